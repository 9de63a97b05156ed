/* The expiry of a server's certificates, for the metrics. */
#ifndef UW_SERVER_CERTIFICATE_METRICS_H
#define UW_SERVER_CERTIFICATE_METRICS_H

struct uw_server;

/* Writes the earliest expiry of the certificates of all listeners to the metrics, which exist. On the loop's thread.
 */
void uw_server_measure_certificates(struct uw_server *server);

#endif
