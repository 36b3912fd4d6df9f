

xPlaceholder*
dtype0
1
yIdentityx:99999999999999999999999*
T0

zIdentityx:-1*
T0