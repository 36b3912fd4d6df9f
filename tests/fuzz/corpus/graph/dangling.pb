

yIdentitynowhere*
T0

zIdentityy:7*
T0