
 
caféPlaceholder*
dtype0

yIdentitycafé*
T0