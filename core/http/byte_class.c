#include "http/byte_class.h"

#define TEXT (UW_BYTE_TARGET | UW_BYTE_VALUE)
#define NAME (UW_BYTE_TOKEN | TEXT)
#define DELIMITER (TEXT | UW_BYTE_HOST)
#define UNRESERVED (NAME | UW_BYTE_HOST)

const uint8_t uw_http_byte_classes[256] = {
    ['\t'] = UW_BYTE_VALUE,
    [' '] = UW_BYTE_VALUE,
    ['!'] = UNRESERVED,
    ['"'] = TEXT,
    ['#'] = UW_BYTE_TOKEN | UW_BYTE_VALUE,
    ['$'] = UNRESERVED,
    ['%'] = NAME,
    ['&' ... '\''] = UNRESERVED,
    ['(' ... ')'] = DELIMITER,
    ['*' ... '+'] = UNRESERVED,
    [','] = DELIMITER,
    ['-' ... '.'] = UNRESERVED,
    ['/'] = TEXT,
    ['0' ... '9'] = UNRESERVED | UW_BYTE_DIGIT,
    [':'] = TEXT,
    [';'] = DELIMITER,
    ['<'] = TEXT,
    ['='] = DELIMITER,
    ['>' ... '@'] = TEXT,
    ['A' ... 'Z'] = UNRESERVED,
    ['[' ... ']'] = TEXT,
    ['^'] = NAME,
    ['_'] = UNRESERVED,
    ['`'] = NAME,
    ['a' ... 'z'] = UNRESERVED,
    ['{'] = TEXT,
    ['|'] = NAME,
    ['}'] = TEXT,
    ['~'] = UNRESERVED,
    [0x80 ... 0xff] = UW_BYTE_VALUE,
};
