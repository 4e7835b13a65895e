# Golden text of the first exchange rows of siglip-tiny on 64 tiles: schedule and words.
$ tessera fixture siglip-tiny $T/siglip-tiny >/dev/null 2>&1
$ tessera compile $T/siglip-tiny --tiles 64 -q --layers 1 --stop-after=rows --dump=rows >$T/rows
$ wc -l <$T/rows; sed -n 1,60p $T/rows
--- exit 0
7829
row phase=0 tile=0 words=6 end=960
     0  40a00047           delay 0x47
    72  7fed5ef3           send 63, 0x1abde, 3
   136  70e18003           sendoff 391, 0, 3
   528  7fed6d33           send 63, 0x1ada6, 3
   592  75e14003           sendoff 367, 0, 3
   960  43a00000           br $m10
row phase=0 tile=2 words=6 end=958
     0  40a00045           delay 0x45
    70  7fed6333           send 63, 0x1ac66, 3
   134  70e18003           sendoff 391, 0, 3
   526  7fed7173           send 63, 0x1ae2e, 3
   590  75e14003           sendoff 367, 0, 3
   958  43a00000           br $m10
row phase=0 tile=64 words=6 end=956
     0  40a00043           delay 0x43
    68  7fed6333           send 63, 0x1ac66, 3
   132  70e18003           sendoff 391, 0, 3
   524  7fed7173           send 63, 0x1ae2e, 3
   588  75e14003           sendoff 367, 0, 3
   956  43a00000           br $m10
row phase=0 tile=66 words=5 end=558
     0  640a8000           delayxpic 42, 0, 0 # xpic=0 at 43
    43  61a9b360           delaypic 53, 0, 0x1b360 # pointer=0x6cd80 at 97
    97  64644640           delayxpic 401, 0, 0x640 # xpic=1600 at 499
   499  40a0003a           delay 0x3a
   558  43a00000           br $m10
row phase=0 tile=128 words=5 end=989
     0  647bc000           delayxpic 495, 0, 0 # xpic=0 at 496
   496  61b9b6f0           delaypic 55, 0, 0x1b6f0 # pointer=0x6dbc0 at 552
   552  645dc640           delayxpic 375, 0, 0x640 # xpic=1600 at 928
   928  40a0003c           delay 0x3c
   989  43a00000           br $m10
row phase=0 tile=130 words=5 end=556
     0  64098002           delayxpic 38, 0, 2 # xpic=2 at 39
    39  61b9b7e8           delaypic 55, 0, 0x1b7e8 # pointer=0x6dfa0 at 95
    95  6463c640           delayxpic 399, 0, 0x640 # xpic=1600 at 495
   495  40a0003c           delay 0x3c
   556  43a00000           br $m10
row phase=0 tile=192 words=5 end=987
     0  647ac002           delayxpic 491, 0, 2 # xpic=2 at 492
   492  61c9b6e0           delaypic 57, 0, 0x1b6e0 # pointer=0x6db80 at 550
   550  645d4640           delayxpic 373, 0, 0x640 # xpic=1600 at 924
   924  40a0003e           delay 0x3e
   987  43a00000           br $m10
row phase=0 tile=194 words=5 end=556
     0  64090040           delayxpic 36, 0, 0x40 # xpic=64 at 37
    37  61c9b7f8           delaypic 57, 0, 0x1b7f8 # pointer=0x6dfe0 at 95
    95  64634640           delayxpic 397, 0, 0x640 # xpic=1600 at 493
   493  40a0003e           delay 0x3e
   556  43a00000           br $m10
row phase=0 tile=256 words=5 end=987
     0  647a4040           delayxpic 489, 0, 0x40 # xpic=64 at 490
   490  61d9b6e0           delaypic 59, 0, 0x1b6e0 # pointer=0x6db80 at 550
   550  645cc640           delayxpic 371, 0, 0x640 # xpic=1600 at 922
   922  40a00040           delay 0x40
   987  43a00000           br $m10
row phase=0 tile=258 words=5 end=558
     0  64090000           delayxpic 36, 0, 0 # xpic=0 at 37
    37  61d9b768           delaypic 59, 0, 0x1b768 # pointer=0x6dda0 at 97
