

a
bPlaceholder*
dtype0