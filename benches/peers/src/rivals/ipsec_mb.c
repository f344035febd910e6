// One ChaCha20-Poly1305 job for Intel's multi-buffer library, by its public header.
#include <intel-ipsec-mb.h>
#include <string.h>

IMB_MGR *peers_ipsec_mb_new(void) {
    IMB_MGR *mgr = alloc_mb_mgr(0);
    if (mgr) init_mb_mgr_auto(mgr, NULL);
    return mgr;
}

const char *peers_ipsec_mb_version(void) { return imb_get_version_str(); }

// `seal` 1: from src to dst, tag to `tag`; 0: the reverse. Returns whether the job was completed.
int peers_ipsec_mb_run(IMB_MGR *mgr, int seal, const uint8_t *key, const uint8_t *nonce, const uint8_t *aad,
                       size_t aad_len, const uint8_t *src, uint8_t *dst, size_t len, uint8_t *tag) {
    IMB_JOB *job = IMB_GET_NEXT_JOB(mgr);
    job->cipher_mode = IMB_CIPHER_CHACHA20_POLY1305;
    job->hash_alg = IMB_AUTH_CHACHA20_POLY1305;
    job->cipher_direction = seal ? IMB_DIR_ENCRYPT : IMB_DIR_DECRYPT;
    job->chain_order = seal ? IMB_ORDER_CIPHER_HASH : IMB_ORDER_HASH_CIPHER;
    job->enc_keys = job->dec_keys = key;
    job->key_len_in_bytes = 32;
    job->u.CHACHA20_POLY1305.aad = aad;
    job->u.CHACHA20_POLY1305.aad_len_in_bytes = aad_len;
    job->src = src;
    job->dst = dst;
    job->iv = nonce;
    job->iv_len_in_bytes = 12;
    job->cipher_start_src_offset_in_bytes = job->hash_start_src_offset_in_bytes = 0;
    job->msg_len_to_cipher_in_bytes = job->msg_len_to_hash_in_bytes = len;
    job->auth_tag_output = tag;
    job->auth_tag_output_len_in_bytes = 16;
    job = IMB_SUBMIT_JOB_NOCHECK(mgr);
    return job && job->status == IMB_STATUS_COMPLETED;
}
