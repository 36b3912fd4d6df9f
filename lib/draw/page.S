/* The parts of an HTML page as bytes in the program: gedit_page_NAME .. gedit_page_NAME_end. */
        .section .rodata
        .global gedit_page_style
        .global gedit_page_style_end
        .global gedit_page_dagre
        .global gedit_page_dagre_end
        .global gedit_page_license
        .global gedit_page_license_end
        .global gedit_page_script
        .global gedit_page_script_end
gedit_page_style:
        .incbin "page.css"
gedit_page_style_end:
        .byte 0
gedit_page_dagre:
        .incbin "dagre.min.js"
gedit_page_dagre_end:
        .byte 0
gedit_page_license:
        .incbin "LICENSE"
gedit_page_license_end:
        .byte 0
gedit_page_script:
        .incbin "page.js"
gedit_page_script_end:
        .byte 0
#if defined(__linux__) && defined(__ELF__)
        .section .note.GNU-stack, "", %progbits
#endif
