"""All system calls of Linux 6.18 by name, in classes: what a filter that holds effects does with each.

The numbers are those for (x86_64, aarch64); 0 where an architecture has no such call. A call of no class, as
one of a later system, fails with ENOSYS.
"""

FILES = {
    "creat": (85, 0), "mkdir": (83, 0), "mkdirat": (258, 34), "mknod": (133, 0), "mknodat": (259, 33),
    "unlink": (87, 0), "unlinkat": (263, 35), "rmdir": (84, 0), "rename": (82, 0), "renameat": (264, 38),
    "renameat2": (316, 276), "link": (86, 0), "linkat": (265, 37), "symlink": (88, 0), "symlinkat": (266, 36),
    "truncate": (76, 45),
}  # fmt: skip
# The forms with a descriptor too: they succeed on one that is open for reading only.
ATTRIBUTES = {
    "chmod": (90, 0), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, 0),
    "fchown": (93, 55), "lchown": (94, 0), "fchownat": (260, 54), "utime": (132, 0), "utimes": (235, 0),
    "futimesat": (261, 0), "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
}  # fmt: skip
SOCKETS = {
    "connect": (42, 203), "bind": (49, 200), "sendmsg": (46, 211), "sendmmsg": (307, 269),
    "listen": (50, 201),
}  # fmt: skip
SIGNALS = {
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
}  # fmt: skip
PROGRAMS = {
    "execve": (59, 221), "execveat": (322, 281),
}  # fmt: skip
# They change how other processes are scheduled.
PRIORITIES = {
    "setpriority": (141, 140), "ioprio_set": (251, 30),
}  # fmt: skip
# What happens depends on an argument.
SOME = {
    "open": (2, 0), "openat": (257, 56), "sendto": (44, 206), "ioctl": (16, 29), "fcntl": (72, 25),
    "clone": (56, 220), "prctl": (157, 167), "prlimit64": (302, 261), "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274), "sched_setparam": (142, 118), "sched_setscheduler": (144, 119),
    "migrate_pages": (256, 238), "move_pages": (279, 239),
}  # fmt: skip
# Memory and queues that all programs of a user share, unless the sandbox has its own.
SHARED = {
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190), "semctl": (66, 191),
    "semop": (65, 193), "semtimedop": (220, 192), "msgget": (68, 186), "msgctl": (71, 187),
    "msgsnd": (69, 189), "msgrcv": (70, 188),
}  # fmt: skip
# They reach memory, files, names or the machine past the calls above.
REFUSED = {
    "ptrace": (101, 117), "process_vm_writev": (311, 271), "pidfd_getfd": (438, 438),
    "userfaultfd": (323, 282), "process_madvise": (440, 440), "kcmp": (312, 272),
    "open_by_handle_at": (304, 265), "fanotify_init": (300, 262), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428), "open_tree_attr": (467, 467),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "setns": (308, 268), "unshare": (272, 97),
    "bpf": (321, 280), "perf_event_open": (298, 241), "keyctl": (250, 219), "add_key": (248, 217),
    "request_key": (249, 218), "mq_open": (240, 180), "mq_unlink": (241, 181), "swapon": (167, 224),
    "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    "sethostname": (170, 161), "setdomainname": (171, 162), "settimeofday": (164, 170),
    "clock_settime": (227, 112), "clock_adjtime": (305, 266), "adjtimex": (159, 171), "syslog": (103, 116),
    "reboot": (169, 142), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "iopl": (172, 0), "ioperm": (173, 0),
    "vhangup": (153, 58), "lsm_set_self_attr": (460, 460),
}  # fmt: skip
# Programs have another way for these, which the filter can read or the holder can follow. Rules of Landlock
# that a program gives itself would not count for what the holder does in its place.
ABSENT = {
    "openat2": (437, 437), "clone3": (435, 435), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "setxattrat": (463, 463), "removexattrat": (466, 466),
    "file_setattr": (469, 469), "pidfd_send_signal": (424, 424), "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445), "landlock_restrict_self": (446, 446),
}  # fmt: skip
# They compute, read, wait, or write to what is open already. Number 0 is in this class on each architecture.
FREE = {
    "read": (0, 63), "write": (1, 64), "close": (3, 57), "stat": (4, 0), "fstat": (5, 80), "lstat": (6, 0),
    "poll": (7, 0), "lseek": (8, 62), "mmap": (9, 222), "mprotect": (10, 226), "munmap": (11, 215),
    "brk": (12, 214), "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139),
    "pread64": (17, 67), "pwrite64": (18, 68), "readv": (19, 65), "writev": (20, 66), "access": (21, 0),
    "pipe": (22, 0), "select": (23, 0), "sched_yield": (24, 124), "mremap": (25, 216), "msync": (26, 227),
    "mincore": (27, 232), "madvise": (28, 233), "dup": (32, 23), "dup2": (33, 0), "pause": (34, 0),
    "nanosleep": (35, 101), "getitimer": (36, 102), "alarm": (37, 0), "setitimer": (38, 103),
    "getpid": (39, 172), "sendfile": (40, 71), "socket": (41, 198), "accept": (43, 202),
    "recvfrom": (45, 207), "recvmsg": (47, 212), "shutdown": (48, 210), "getsockname": (51, 204),
    "getpeername": (52, 205), "socketpair": (53, 199), "setsockopt": (54, 208), "getsockopt": (55, 209),
    "fork": (57, 0), "vfork": (58, 0), "exit": (60, 93), "wait4": (61, 260), "uname": (63, 160),
    "shmdt": (67, 197), "flock": (73, 32), "fsync": (74, 82), "fdatasync": (75, 83), "ftruncate": (77, 46),
    "getdents": (78, 0), "getcwd": (79, 17), "chdir": (80, 49), "fchdir": (81, 50), "readlink": (89, 0),
    "umask": (95, 166), "gettimeofday": (96, 169), "getrlimit": (97, 163), "getrusage": (98, 165),
    "sysinfo": (99, 179), "times": (100, 153), "getuid": (102, 174), "getgid": (104, 176),
    "setuid": (105, 146), "setgid": (106, 144), "geteuid": (107, 175), "getegid": (108, 177),
    "setpgid": (109, 154), "getppid": (110, 173), "getpgrp": (111, 0), "setsid": (112, 157),
    "setreuid": (113, 145), "setregid": (114, 143), "getgroups": (115, 158), "setgroups": (116, 159),
    "setresuid": (117, 147), "getresuid": (118, 148), "setresgid": (119, 149), "getresgid": (120, 150),
    "getpgid": (121, 155), "setfsuid": (122, 151), "setfsgid": (123, 152), "getsid": (124, 156),
    "capget": (125, 90), "capset": (126, 91), "rt_sigpending": (127, 136), "rt_sigtimedwait": (128, 137),
    "rt_sigsuspend": (130, 133), "sigaltstack": (131, 132), "personality": (135, 92), "ustat": (136, 0),
    "statfs": (137, 43), "fstatfs": (138, 44), "sysfs": (139, 0), "getpriority": (140, 141),
    "sched_getparam": (143, 121), "sched_getscheduler": (145, 120), "sched_get_priority_max": (146, 125),
    "sched_get_priority_min": (147, 126), "sched_rr_get_interval": (148, 127), "mlock": (149, 228),
    "munlock": (150, 229), "mlockall": (151, 230), "munlockall": (152, 231), "modify_ldt": (154, 0),
    "arch_prctl": (158, 0), "setrlimit": (160, 164), "sync": (162, 81), "gettid": (186, 178),
    "readahead": (187, 213), "getxattr": (191, 8), "lgetxattr": (192, 9), "fgetxattr": (193, 10),
    "listxattr": (194, 11), "llistxattr": (195, 12), "flistxattr": (196, 13), "time": (201, 0),
    "futex": (202, 98), "sched_getaffinity": (204, 123), "set_thread_area": (205, 0), "io_setup": (206, 0),
    "io_destroy": (207, 1), "io_getevents": (208, 4), "io_submit": (209, 2), "io_cancel": (210, 3),
    "get_thread_area": (211, 0), "epoll_create": (213, 0), "remap_file_pages": (216, 234),
    "getdents64": (217, 61), "set_tid_address": (218, 96), "restart_syscall": (219, 128),
    "fadvise64": (221, 223), "timer_create": (222, 107), "timer_settime": (223, 110),
    "timer_gettime": (224, 108), "timer_getoverrun": (225, 109), "timer_delete": (226, 111),
    "clock_gettime": (228, 113), "clock_getres": (229, 114), "clock_nanosleep": (230, 115),
    "exit_group": (231, 94), "epoll_wait": (232, 0), "epoll_ctl": (233, 21), "mbind": (237, 235),
    "set_mempolicy": (238, 237), "get_mempolicy": (239, 236), "mq_timedsend": (242, 182),
    "mq_timedreceive": (243, 183), "mq_notify": (244, 184), "mq_getsetattr": (245, 185), "waitid": (247, 95),
    "ioprio_get": (252, 31), "inotify_init": (253, 0), "inotify_add_watch": (254, 27),
    "inotify_rm_watch": (255, 28), "newfstatat": (262, 79), "readlinkat": (267, 78), "faccessat": (269, 48),
    "pselect6": (270, 72), "ppoll": (271, 73), "set_robust_list": (273, 99), "get_robust_list": (274, 100),
    "splice": (275, 76), "tee": (276, 77), "sync_file_range": (277, 84), "vmsplice": (278, 75),
    "epoll_pwait": (281, 22), "signalfd": (282, 0), "timerfd_create": (283, 85), "eventfd": (284, 0),
    "fallocate": (285, 47), "timerfd_settime": (286, 86), "timerfd_gettime": (287, 87), "accept4": (288, 242),
    "signalfd4": (289, 74), "eventfd2": (290, 19), "epoll_create1": (291, 20), "dup3": (292, 24),
    "pipe2": (293, 59), "inotify_init1": (294, 26), "preadv": (295, 69), "pwritev": (296, 70),
    "recvmmsg": (299, 243), "fanotify_mark": (301, 263), "name_to_handle_at": (303, 264),
    "syncfs": (306, 267), "getcpu": (309, 168), "process_vm_readv": (310, 270), "sched_getattr": (315, 275),
    "seccomp": (317, 277), "getrandom": (318, 278), "memfd_create": (319, 279), "membarrier": (324, 283),
    "mlock2": (325, 284), "copy_file_range": (326, 285), "preadv2": (327, 286), "pwritev2": (328, 287),
    "pkey_mprotect": (329, 288), "pkey_alloc": (330, 289), "pkey_free": (331, 290), "statx": (332, 291),
    "io_pgetevents": (333, 292), "rseq": (334, 293), "pidfd_open": (434, 434), "close_range": (436, 436),
    "faccessat2": (439, 439), "epoll_pwait2": (441, 441), "memfd_secret": (447, 447),
    "process_mrelease": (448, 448), "futex_waitv": (449, 449), "set_mempolicy_home_node": (450, 450),
    "cachestat": (451, 451), "map_shadow_stack": (453, 453), "futex_wake": (454, 454),
    "futex_wait": (455, 455), "futex_requeue": (456, 456), "statmount": (457, 457), "listmount": (458, 458),
    "lsm_get_self_attr": (459, 459), "lsm_list_modules": (461, 461), "mseal": (462, 462),
    "getxattrat": (464, 464), "listxattrat": (465, 465), "file_getattr": (468, 468), "uretprobe": (335, 0),
}  # fmt: skip

OF_PROCESS = (
    "prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler",
    "migrate_pages", "move_pages",
)  # fmt: skip
"""Calls of `SOME` whose first argument is a process, 0 for the caller's own."""

ALL = (
    FILES, ATTRIBUTES, SOCKETS, SIGNALS, PROGRAMS, PRIORITIES, SOME, SHARED, REFUSED, ABSENT, FREE
)  # fmt: skip
