x

xPlaceholder*
dtype0