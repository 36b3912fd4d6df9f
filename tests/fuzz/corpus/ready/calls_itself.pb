


f
cf

cf

xPlaceholder*
dtype0