/* The op registry as bytes in the program: gedit_builtin_ops .. gedit_builtin_ops_end. */
        .section .rodata
        .global gedit_builtin_ops
        .global gedit_builtin_ops_end
        .balign 16
gedit_builtin_ops:
        .incbin "tensorflow.ops.pb"
gedit_builtin_ops_end:
        .byte 0
#if defined(__linux__) && defined(__ELF__)
        .section .note.GNU-stack, "", %progbits
#endif
