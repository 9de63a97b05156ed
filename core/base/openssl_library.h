/* Includes OpenSSL. A build that loads OpenSSL with dlopen(3) lists here each function of libcrypto and libssl in use.
 * A call of any other function makes the build link libssl. */
#ifndef UW_BASE_OPENSSL_LIBRARY_H
#define UW_BASE_OPENSSL_LIBRARY_H

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#ifdef UW_LOADS_OPENSSL

#include "base/shared_library.h"

/* Returns NULL, or a sentence that explains why the library is missing. Call this function before any OpenSSL function.
 */
const char *uw_openssl_missing(void);

#define UW_OPENSSL_FUNCTIONS(X) \
    X(ASN1_INTEGER_cmp) \
    X(ASN1_STRING_get0_data) \
    X(ASN1_STRING_length) \
    X(ASN1_TIME_diff) \
    X(BIO_clear_flags) \
    X(BIO_ctrl) \
    X(BIO_ctrl_pending) \
    X(BIO_free) \
    X(BIO_get_data) \
    X(BIO_meth_free) \
    X(BIO_meth_new) \
    X(BIO_meth_set_create) \
    X(BIO_meth_set_ctrl) \
    X(BIO_meth_set_read) \
    X(BIO_meth_set_write) \
    X(BIO_new) \
    X(BIO_new_fp) \
    X(BIO_read) \
    X(BIO_s_mem) \
    X(BIO_set_data) \
    X(BIO_set_flags) \
    X(BIO_set_init) \
    X(BIO_write) \
    X(CRYPTO_memcmp) \
    X(CRYPTO_memdup) \
    X(ERR_clear_error) \
    X(ERR_peek_error) \
    X(ERR_peek_last_error) \
    X(ERR_reason_error_string) \
    X(EVP_CIPHER_get_iv_length) \
    X(EVP_DecryptInit_ex) \
    X(EVP_Digest) \
    X(EVP_DigestFinal_ex) \
    X(EVP_DigestInit_ex) \
    X(EVP_DigestUpdate) \
    X(EVP_EncodeBlock) \
    X(EVP_EncryptInit_ex) \
    X(EVP_KDF_CTX_free) \
    X(EVP_KDF_CTX_new) \
    X(EVP_KDF_derive) \
    X(EVP_KDF_fetch) \
    X(EVP_KDF_free) \
    X(EVP_MAC_CTX_set_params) \
    X(EVP_MD_CTX_free) \
    X(EVP_MD_CTX_new) \
    X(EVP_PKEY_free) \
    X(EVP_PKEY_get_base_id) \
    X(EVP_aes_256_cbc) \
    X(EVP_get_digestbyname) \
    X(EVP_sha1) \
    X(EVP_sha256) \
    X(GENERAL_NAMES_free) \
    X(GENERAL_NAME_get0_value) \
    X(OBJ_nid2sn) \
    X(OBJ_obj2nid) \
    X(OCSP_BASICRESP_free) \
    X(OCSP_CERTID_free) \
    X(OCSP_RESPONSE_free) \
    X(OCSP_SINGLERESP_get0_id) \
    X(OCSP_basic_verify) \
    X(OCSP_cert_status_str) \
    X(OCSP_cert_to_id) \
    X(OCSP_id_cmp) \
    X(OCSP_id_get0_info) \
    X(OCSP_resp_count) \
    X(OCSP_resp_get0) \
    X(OCSP_resp_get0_certs) \
    X(OCSP_response_get1_basic) \
    X(OCSP_response_status) \
    X(OCSP_response_status_str) \
    X(OCSP_single_get0_status) \
    X(OPENSSL_cleanse) \
    X(OPENSSL_init_ssl) \
    X(OPENSSL_sk_free) \
    X(OPENSSL_sk_new_null) \
    X(OPENSSL_sk_num) \
    X(OPENSSL_sk_pop_free) \
    X(OPENSSL_sk_push) \
    X(OPENSSL_sk_value) \
    X(OSSL_PARAM_construct_end) \
    X(OSSL_PARAM_construct_octet_string) \
    X(OSSL_PARAM_construct_utf8_string) \
    X(PEM_read_bio_PrivateKey) \
    X(PEM_read_bio_X509) \
    X(PEM_read_bio_X509_AUX) \
    X(PEM_write_bio_X509) \
    X(RAND_bytes) \
    X(SSL_CIPHER_get_name) \
    X(SSL_CTX_add_client_CA) \
    X(SSL_CTX_callback_ctrl) \
    X(SSL_CTX_ctrl) \
    X(SSL_CTX_free) \
    X(SSL_CTX_get_cert_store) \
    X(SSL_CTX_get_ex_data) \
    X(SSL_CTX_new) \
    X(SSL_CTX_set_alpn_select_cb) \
    X(SSL_CTX_set_cert_cb) \
    X(SSL_CTX_set_cipher_list) \
    X(SSL_CTX_set_ciphersuites) \
    X(SSL_CTX_set_ex_data) \
    X(SSL_CTX_set_num_tickets) \
    X(SSL_CTX_set_options) \
    X(SSL_CTX_set_security_level) \
    X(SSL_CTX_set_session_id_context) \
    X(SSL_CTX_set_session_ticket_cb) \
    X(SSL_CTX_set_timeout) \
    X(SSL_CTX_set_tlsext_ticket_key_evp_cb) \
    X(SSL_CTX_set_verify) \
    X(SSL_CTX_set_verify_depth) \
    X(SSL_CTX_use_cert_and_key) \
    X(SSL_CTX_use_certificate) \
    X(SSL_SESSION_get0_ticket_appdata) \
    X(SSL_SESSION_get_time) \
    X(SSL_SESSION_get_timeout) \
    X(SSL_SESSION_set1_ticket_appdata) \
    X(SSL_SESSION_set_timeout) \
    X(SSL_certs_clear) \
    X(SSL_ctrl) \
    X(SSL_do_handshake) \
    X(SSL_free) \
    X(SSL_get0_alpn_selected) \
    X(SSL_get0_peer_certificate) \
    X(SSL_get0_verified_chain) \
    X(SSL_get_SSL_CTX) \
    X(SSL_get_certificate) \
    X(SSL_get_current_cipher) \
    X(SSL_get_error) \
    X(SSL_get_servername) \
    X(SSL_get_session) \
    X(SSL_get_version) \
    X(SSL_has_pending) \
    X(SSL_new) \
    X(SSL_read_ex) \
    X(SSL_rstate_string) \
    X(SSL_session_reused) \
    X(SSL_set_accept_state) \
    X(SSL_set_bio) \
    X(SSL_set_msg_callback) \
    X(SSL_shutdown) \
    X(SSL_use_cert_and_key) \
    X(SSL_version) \
    X(SSL_write_ex) \
    X(TLS_server_method) \
    X(X509_NAME_ENTRY_get_data) \
    X(X509_NAME_digest) \
    X(X509_NAME_get_entry) \
    X(X509_NAME_get_index_by_NID) \
    X(X509_NAME_print_ex) \
    X(X509_STORE_add_cert) \
    X(X509_STORE_free) \
    X(X509_STORE_new) \
    X(X509_check_host) \
    X(X509_check_issued) \
    X(X509_check_private_key) \
    X(X509_cmp_current_time) \
    X(X509_digest) \
    X(X509_free) \
    X(X509_get0_notAfter) \
    X(X509_get0_notBefore) \
    X(X509_get0_pubkey) \
    X(X509_get0_serialNumber) \
    X(X509_get_ext_d2i) \
    X(X509_get_issuer_name) \
    X(X509_get_subject_name) \
    X(X509_verify) \
    X(d2i_OCSP_RESPONSE) \
    X(i2a_ASN1_INTEGER)

struct uw_openssl {
    UW_OPENSSL_FUNCTIONS(UW_SHARED_LIBRARY_POINTER)
};

extern struct uw_openssl uw_openssl;

#define ASN1_INTEGER_cmp uw_openssl.ASN1_INTEGER_cmp
#define ASN1_STRING_get0_data uw_openssl.ASN1_STRING_get0_data
#define ASN1_STRING_length uw_openssl.ASN1_STRING_length
#define ASN1_TIME_diff uw_openssl.ASN1_TIME_diff
#define BIO_clear_flags uw_openssl.BIO_clear_flags
#define BIO_ctrl uw_openssl.BIO_ctrl
#define BIO_ctrl_pending uw_openssl.BIO_ctrl_pending
#define BIO_free uw_openssl.BIO_free
#define BIO_get_data uw_openssl.BIO_get_data
#define BIO_meth_free uw_openssl.BIO_meth_free
#define BIO_meth_new uw_openssl.BIO_meth_new
#define BIO_meth_set_create uw_openssl.BIO_meth_set_create
#define BIO_meth_set_ctrl uw_openssl.BIO_meth_set_ctrl
#define BIO_meth_set_read uw_openssl.BIO_meth_set_read
#define BIO_meth_set_write uw_openssl.BIO_meth_set_write
#define BIO_new uw_openssl.BIO_new
#define BIO_new_fp uw_openssl.BIO_new_fp
#define BIO_read uw_openssl.BIO_read
#define BIO_s_mem uw_openssl.BIO_s_mem
#define BIO_set_data uw_openssl.BIO_set_data
#define BIO_set_flags uw_openssl.BIO_set_flags
#define BIO_set_init uw_openssl.BIO_set_init
#define BIO_write uw_openssl.BIO_write
#define CRYPTO_memcmp uw_openssl.CRYPTO_memcmp
#define CRYPTO_memdup uw_openssl.CRYPTO_memdup
#define ERR_clear_error uw_openssl.ERR_clear_error
#define ERR_peek_error uw_openssl.ERR_peek_error
#define ERR_peek_last_error uw_openssl.ERR_peek_last_error
#define ERR_reason_error_string uw_openssl.ERR_reason_error_string
#define EVP_CIPHER_get_iv_length uw_openssl.EVP_CIPHER_get_iv_length
#define EVP_DecryptInit_ex uw_openssl.EVP_DecryptInit_ex
#define EVP_Digest uw_openssl.EVP_Digest
#define EVP_DigestFinal_ex uw_openssl.EVP_DigestFinal_ex
#define EVP_DigestInit_ex uw_openssl.EVP_DigestInit_ex
#define EVP_DigestUpdate uw_openssl.EVP_DigestUpdate
#define EVP_EncodeBlock uw_openssl.EVP_EncodeBlock
#define EVP_EncryptInit_ex uw_openssl.EVP_EncryptInit_ex
#define EVP_KDF_CTX_free uw_openssl.EVP_KDF_CTX_free
#define EVP_KDF_CTX_new uw_openssl.EVP_KDF_CTX_new
#define EVP_KDF_derive uw_openssl.EVP_KDF_derive
#define EVP_KDF_fetch uw_openssl.EVP_KDF_fetch
#define EVP_KDF_free uw_openssl.EVP_KDF_free
#define EVP_MAC_CTX_set_params uw_openssl.EVP_MAC_CTX_set_params
#define EVP_MD_CTX_free uw_openssl.EVP_MD_CTX_free
#define EVP_MD_CTX_new uw_openssl.EVP_MD_CTX_new
#define EVP_PKEY_free uw_openssl.EVP_PKEY_free
#define EVP_PKEY_get_base_id uw_openssl.EVP_PKEY_get_base_id
#define EVP_aes_256_cbc uw_openssl.EVP_aes_256_cbc
#define EVP_get_digestbyname uw_openssl.EVP_get_digestbyname
#define EVP_sha1 uw_openssl.EVP_sha1
#define EVP_sha256 uw_openssl.EVP_sha256
#define GENERAL_NAMES_free uw_openssl.GENERAL_NAMES_free
#define GENERAL_NAME_get0_value uw_openssl.GENERAL_NAME_get0_value
#define OBJ_nid2sn uw_openssl.OBJ_nid2sn
#define OBJ_obj2nid uw_openssl.OBJ_obj2nid
#define OCSP_BASICRESP_free uw_openssl.OCSP_BASICRESP_free
#define OCSP_CERTID_free uw_openssl.OCSP_CERTID_free
#define OCSP_RESPONSE_free uw_openssl.OCSP_RESPONSE_free
#define OCSP_SINGLERESP_get0_id uw_openssl.OCSP_SINGLERESP_get0_id
#define OCSP_basic_verify uw_openssl.OCSP_basic_verify
#define OCSP_cert_status_str uw_openssl.OCSP_cert_status_str
#define OCSP_cert_to_id uw_openssl.OCSP_cert_to_id
#define OCSP_id_cmp uw_openssl.OCSP_id_cmp
#define OCSP_id_get0_info uw_openssl.OCSP_id_get0_info
#define OCSP_resp_count uw_openssl.OCSP_resp_count
#define OCSP_resp_get0 uw_openssl.OCSP_resp_get0
#define OCSP_resp_get0_certs uw_openssl.OCSP_resp_get0_certs
#define OCSP_response_get1_basic uw_openssl.OCSP_response_get1_basic
#define OCSP_response_status uw_openssl.OCSP_response_status
#define OCSP_response_status_str uw_openssl.OCSP_response_status_str
#define OCSP_single_get0_status uw_openssl.OCSP_single_get0_status
#define OPENSSL_cleanse uw_openssl.OPENSSL_cleanse
#define OPENSSL_init_ssl uw_openssl.OPENSSL_init_ssl
#define OPENSSL_sk_free uw_openssl.OPENSSL_sk_free
#define OPENSSL_sk_new_null uw_openssl.OPENSSL_sk_new_null
#define OPENSSL_sk_num uw_openssl.OPENSSL_sk_num
#define OPENSSL_sk_pop_free uw_openssl.OPENSSL_sk_pop_free
#define OPENSSL_sk_push uw_openssl.OPENSSL_sk_push
#define OPENSSL_sk_value uw_openssl.OPENSSL_sk_value
#define OSSL_PARAM_construct_end uw_openssl.OSSL_PARAM_construct_end
#define OSSL_PARAM_construct_octet_string uw_openssl.OSSL_PARAM_construct_octet_string
#define OSSL_PARAM_construct_utf8_string uw_openssl.OSSL_PARAM_construct_utf8_string
#define PEM_read_bio_PrivateKey uw_openssl.PEM_read_bio_PrivateKey
#define PEM_read_bio_X509 uw_openssl.PEM_read_bio_X509
#define PEM_read_bio_X509_AUX uw_openssl.PEM_read_bio_X509_AUX
#define PEM_write_bio_X509 uw_openssl.PEM_write_bio_X509
#define RAND_bytes uw_openssl.RAND_bytes
#define SSL_CIPHER_get_name uw_openssl.SSL_CIPHER_get_name
#define SSL_CTX_add_client_CA uw_openssl.SSL_CTX_add_client_CA
#define SSL_CTX_callback_ctrl uw_openssl.SSL_CTX_callback_ctrl
#define SSL_CTX_ctrl uw_openssl.SSL_CTX_ctrl
#define SSL_CTX_free uw_openssl.SSL_CTX_free
#define SSL_CTX_get_cert_store uw_openssl.SSL_CTX_get_cert_store
#define SSL_CTX_get_ex_data uw_openssl.SSL_CTX_get_ex_data
#define SSL_CTX_new uw_openssl.SSL_CTX_new
#define SSL_CTX_set_alpn_select_cb uw_openssl.SSL_CTX_set_alpn_select_cb
#define SSL_CTX_set_cert_cb uw_openssl.SSL_CTX_set_cert_cb
#define SSL_CTX_set_cipher_list uw_openssl.SSL_CTX_set_cipher_list
#define SSL_CTX_set_ciphersuites uw_openssl.SSL_CTX_set_ciphersuites
#define SSL_CTX_set_ex_data uw_openssl.SSL_CTX_set_ex_data
#define SSL_CTX_set_num_tickets uw_openssl.SSL_CTX_set_num_tickets
#define SSL_CTX_set_options uw_openssl.SSL_CTX_set_options
#define SSL_CTX_set_security_level uw_openssl.SSL_CTX_set_security_level
#define SSL_CTX_set_session_id_context uw_openssl.SSL_CTX_set_session_id_context
#define SSL_CTX_set_session_ticket_cb uw_openssl.SSL_CTX_set_session_ticket_cb
#define SSL_CTX_set_timeout uw_openssl.SSL_CTX_set_timeout
#define SSL_CTX_set_tlsext_ticket_key_evp_cb uw_openssl.SSL_CTX_set_tlsext_ticket_key_evp_cb
#define SSL_CTX_set_verify uw_openssl.SSL_CTX_set_verify
#define SSL_CTX_set_verify_depth uw_openssl.SSL_CTX_set_verify_depth
#define SSL_CTX_use_cert_and_key uw_openssl.SSL_CTX_use_cert_and_key
#define SSL_CTX_use_certificate uw_openssl.SSL_CTX_use_certificate
#define SSL_SESSION_get0_ticket_appdata uw_openssl.SSL_SESSION_get0_ticket_appdata
#define SSL_SESSION_get_time uw_openssl.SSL_SESSION_get_time
#define SSL_SESSION_get_timeout uw_openssl.SSL_SESSION_get_timeout
#define SSL_SESSION_set1_ticket_appdata uw_openssl.SSL_SESSION_set1_ticket_appdata
#define SSL_SESSION_set_timeout uw_openssl.SSL_SESSION_set_timeout
#define SSL_certs_clear uw_openssl.SSL_certs_clear
#define SSL_ctrl uw_openssl.SSL_ctrl
#define SSL_do_handshake uw_openssl.SSL_do_handshake
#define SSL_free uw_openssl.SSL_free
#define SSL_get0_alpn_selected uw_openssl.SSL_get0_alpn_selected
#define SSL_get0_peer_certificate uw_openssl.SSL_get0_peer_certificate
#define SSL_get0_verified_chain uw_openssl.SSL_get0_verified_chain
#define SSL_get_SSL_CTX uw_openssl.SSL_get_SSL_CTX
#define SSL_get_certificate uw_openssl.SSL_get_certificate
#define SSL_get_current_cipher uw_openssl.SSL_get_current_cipher
#define SSL_get_error uw_openssl.SSL_get_error
#define SSL_get_servername uw_openssl.SSL_get_servername
#define SSL_get_session uw_openssl.SSL_get_session
#define SSL_get_version uw_openssl.SSL_get_version
#define SSL_has_pending uw_openssl.SSL_has_pending
#define SSL_new uw_openssl.SSL_new
#define SSL_read_ex uw_openssl.SSL_read_ex
#define SSL_rstate_string uw_openssl.SSL_rstate_string
#define SSL_session_reused uw_openssl.SSL_session_reused
#define SSL_set_accept_state uw_openssl.SSL_set_accept_state
#define SSL_set_bio uw_openssl.SSL_set_bio
#define SSL_set_msg_callback uw_openssl.SSL_set_msg_callback
#define SSL_shutdown uw_openssl.SSL_shutdown
#define SSL_use_cert_and_key uw_openssl.SSL_use_cert_and_key
#define SSL_version uw_openssl.SSL_version
#define SSL_write_ex uw_openssl.SSL_write_ex
#define TLS_server_method uw_openssl.TLS_server_method
#define X509_NAME_ENTRY_get_data uw_openssl.X509_NAME_ENTRY_get_data
#define X509_NAME_digest uw_openssl.X509_NAME_digest
#define X509_NAME_get_entry uw_openssl.X509_NAME_get_entry
#define X509_NAME_get_index_by_NID uw_openssl.X509_NAME_get_index_by_NID
#define X509_NAME_print_ex uw_openssl.X509_NAME_print_ex
#define X509_STORE_add_cert uw_openssl.X509_STORE_add_cert
#define X509_STORE_free uw_openssl.X509_STORE_free
#define X509_STORE_new uw_openssl.X509_STORE_new
#define X509_check_host uw_openssl.X509_check_host
#define X509_check_issued uw_openssl.X509_check_issued
#define X509_check_private_key uw_openssl.X509_check_private_key
#define X509_cmp_current_time uw_openssl.X509_cmp_current_time
#define X509_digest uw_openssl.X509_digest
#define X509_free uw_openssl.X509_free
#define X509_get0_notAfter uw_openssl.X509_get0_notAfter
#define X509_get0_notBefore uw_openssl.X509_get0_notBefore
#define X509_get0_pubkey uw_openssl.X509_get0_pubkey
#define X509_get0_serialNumber uw_openssl.X509_get0_serialNumber
#define X509_get_ext_d2i uw_openssl.X509_get_ext_d2i
#define X509_get_issuer_name uw_openssl.X509_get_issuer_name
#define X509_get_subject_name uw_openssl.X509_get_subject_name
#define X509_verify uw_openssl.X509_verify
#define d2i_OCSP_RESPONSE uw_openssl.d2i_OCSP_RESPONSE
#define i2a_ASN1_INTEGER uw_openssl.i2a_ASN1_INTEGER

#else

static inline const char *uw_openssl_missing(void)
{
    return NULL;
}

#endif
#endif
