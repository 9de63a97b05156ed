#include "websocket/accept_key.h"

#include <string.h>

#include "base/openssl_library.h"

static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

#define SHA1_BYTES 20

bool uw_accept_key_is_possible(void)
{
    return !uw_openssl_missing();
}

int uw_accept_key(const char key[UW_WEBSOCKET_KEY_BYTES], char accept[UW_WEBSOCKET_ACCEPT_BYTES])
{
    char text[UW_WEBSOCKET_KEY_BYTES + sizeof guid - 1];
    unsigned char digest[SHA1_BYTES], encoded[UW_WEBSOCKET_ACCEPT_BYTES + 1];

    memcpy(text, key, UW_WEBSOCKET_KEY_BYTES);
    memcpy(text + UW_WEBSOCKET_KEY_BYTES, guid, sizeof guid - 1);
    if (!EVP_Digest(text, sizeof text, digest, NULL, EVP_sha1(), NULL) ||
        EVP_EncodeBlock(encoded, digest, sizeof digest) != UW_WEBSOCKET_ACCEPT_BYTES)
        return -1;
    memcpy(accept, encoded, UW_WEBSOCKET_ACCEPT_BYTES);
    return 0;
}
