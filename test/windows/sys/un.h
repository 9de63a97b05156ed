#ifndef UW_TEST_SYS_UN_H
#define UW_TEST_SYS_UN_H

struct sockaddr_un {
    unsigned short sun_family;
    char sun_path[108];
};

#endif
