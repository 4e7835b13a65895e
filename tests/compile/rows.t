# Golden text of the first exchange rows of siglip-tiny on 64 tiles: schedule and words.
$ tessera fixture siglip-tiny $T/siglip-tiny >/dev/null 2>&1
$ tessera compile $T/siglip-tiny --tiles 64 -q --layers 1 --stop-after=rows --dump=rows >$T/rows
$ wc -l <$T/rows; sed -n 1,60p $T/rows
--- exit 0
7410
row phase=0 tile=0 words=8 end=1553
     0  40a00048           delay 0x48
    73  7fed4f73           send 63, 0x1a9ee, 3
   137  70e1c003           sendoff 455, 0, 3
   593  7fed5fb3           send 63, 0x1abf6, 3
   657  73e18003           sendoff 415, 0, 3
  1073  7fed6eb3           send 63, 0x1add6, 3
  1137  73e18003           sendoff 415, 0, 3
  1553  43a00000           br $m10
row phase=0 tile=2 words=8 end=1254
     0  40a00045           delay 0x45
    70  7fed55b3           send 63, 0x1aab6, 3
   134  73e14003           sendoff 351, 0, 3
   486  7fed62b3           send 63, 0x1ac56, 3
   550  77e10003           sendoff 319, 0, 3
   870  7fed6eb3           send 63, 0x1add6, 3
   934  77e10003           sendoff 319, 0, 3
  1254  43a00000           br $m10
row phase=0 tile=64 words=5 end=622
     0  640a8000           delayxpic 42, 0, 0 # xpic=0 at 43
    43  61a9ad58           delaypic 53, 0, 0x1ad58 # pointer=0x6b560 at 97
    97  64744640           delayxpic 465, 0, 0x640 # xpic=1600 at 563
   563  40a0003a           delay 0x3a
   622  43a00000           br $m10
row phase=0 tile=66 words=5 end=1103
     0  648cc000           delayxpic 563, 0, 0 # xpic=0 at 564
   564  61a9ac50           delaypic 53, 0, 0x1ac50 # pointer=0x6b140 at 618
   618  646a4640           delayxpic 425, 0, 0x640 # xpic=1600 at 1044
  1044  40a0003a           delay 0x3a
  1103  43a00000           br $m10
row phase=0 tile=128 words=5 end=1582
     0  65040000           delayxpic 1040, 0, 0 # xpic=0 at 1041
  1041  61b9ad68           delaypic 55, 0, 0x1ad68 # pointer=0x6b5a0 at 1097
  1097  6469c640           delayxpic 423, 0, 0x640 # xpic=1600 at 1521
  1521  40a0003c           delay 0x3c
  1582  43a00000           br $m10
row phase=0 tile=130 words=5 end=516
     0  64098002           delayxpic 38, 0, 2 # xpic=2 at 39
    39  61b9ad68           delaypic 55, 0, 0x1ad68 # pointer=0x6b5a0 at 95
    95  6459c640           delayxpic 359, 0, 0x640 # xpic=1600 at 455
   455  40a0003c           delay 0x3c
   516  43a00000           br $m10
row phase=0 tile=192 words=5 end=899
     0  6470c002           delayxpic 451, 0, 2 # xpic=2 at 452
   452  61c9acd0           delaypic 57, 0, 0x1acd0 # pointer=0x6b340 at 510
   510  64514640           delayxpic 325, 0, 0x640 # xpic=1600 at 836
   836  40a0003e           delay 0x3e
   899  43a00000           br $m10
row phase=0 tile=194 words=5 end=1284
     0  64d10002           delayxpic 836, 0, 2 # xpic=2 at 837
   837  61c9ade8           delaypic 57, 0, 0x1ade8 # pointer=0x6b7a0 at 895
   895  64514640           delayxpic 325, 0, 0x640 # xpic=1600 at 1221
  1221  40a0003e           delay 0x3e
  1284  43a00000           br $m10
row phase=0 tile=256 words=5 end=622
     0  64090000           delayxpic 36, 0, 0 # xpic=0 at 37
    37  61d9ad58           delaypic 59, 0, 0x1ad58 # pointer=0x6b560 at 97
    97  6472c640           delayxpic 459, 0, 0x640 # xpic=1600 at 557
   557  40a00040           delay 0x40
   622  43a00000           br $m10
