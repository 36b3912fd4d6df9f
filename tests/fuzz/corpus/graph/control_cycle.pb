

aNoOp^b

bNoOp^a