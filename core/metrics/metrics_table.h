/* The list of all metrics. The memory, the text for Prometheus and the guide's table come from it. */
#ifndef UW_METRICS_METRICS_TABLE_H
#define UW_METRICS_METRICS_TABLE_H

/* Labels: X(ID, name, number of values, values...). */
#define UW_METRIC_LABELS(X) \
    X(NONE, "", 1, "") \
    X(METHOD, "http_request_method", 10, "_OTHER", "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", \
      "CONNECT", "TRACE") \
    X(STATUS_CLASS, "http_response_status_class", 6, "none", "1xx", "2xx", "3xx", "4xx", "5xx") \
    X(REFUSAL, "http_response_status_code", 11, "400", "408", "413", "414", "417", "426", "431", "501", "503", "505", \
      "other") \
    X(CONNECTION_STATE, "state", 4, "active", "idle", "handshake", "hijacked") \
    X(WORKER_STATE, "state", 4, "starting", "serving", "silent", "draining") \
    X(RESTART, "reason", 4, "died", "no_heartbeat", "phased_restart", "stop_signal")

/* Metrics: X(ID, type, scope, first label, second label, name, help). A WORKER metric has the label worker, too. A
 * MEMORY metric is read from the system for each answer. */
#define UW_METRICS(X) \
    X(REQUEST_DURATION, HISTOGRAM, WORKER, METHOD, STATUS_CLASS, "http_server_request_duration_seconds", \
      "Time from the complete request to the end of the response.") \
    X(ACTIVE_REQUESTS, GAUGE, WORKER, NONE, NONE, "http_server_active_requests", \
      "Requests without a complete " \
      "response.") \
    X(QUEUE_TIME, HISTOGRAM, WORKER, NONE, NONE, "upwell_queue_time_seconds", \
      "Time that requests waited for the application, at a local proxy and in the server.") \
    X(REQUESTS_REFUSED, COUNTER, WORKER, REFUSAL, NONE, "upwell_requests_refused_total", \
      "Requests that the server refused by itself.") \
    X(TIMEOUTS, COUNTER, WORKER, NONE, NONE, "upwell_timeouts_total", "Clients that were too slow.") \
    X(CONNECTIONS, GAUGE, WORKER, CONNECTION_STATE, NONE, "upwell_connections", "Open connections.") \
    X(CONNECTIONS_ACCEPTED, COUNTER, WORKER, NONE, NONE, "upwell_connections_accepted_total", "Accepted connections.") \
    X(TLS_HANDSHAKES, COUNTER, WORKER, NONE, NONE, "upwell_tls_handshakes_total", "Completed TLS handshakes.") \
    X(CERTIFICATE_EXPIRY, GAUGE, WORKER, NONE, NONE, "upwell_tls_certificate_expiry_timestamp_seconds", \
      "Time when the first of the server's certificates expires.") \
    X(WEBSOCKET_CLIENTS, GAUGE, WORKER, NONE, NONE, "upwell_websocket_clients", "Connected WebSockets.") \
    X(EVENT_STREAM_CLIENTS, GAUGE, WORKER, NONE, NONE, "upwell_event_stream_clients", \
      "Connected clients of server-sent events.") \
    X(MESSAGES_PUBLISHED, COUNTER, WORKER, NONE, NONE, "upwell_messages_published_total", \
      "Messages published in the worker, also those from other processes.") \
    X(GC_COUNT, COUNTER, WORKER, NONE, NONE, "ruby_gc_count_total", "Runs of Ruby's garbage collector.") \
    X(RESIDENT_MEMORY, GAUGE, MEMORY, NONE, NONE, "process_resident_memory_bytes", "Resident memory of the worker.") \
    X(PROPORTIONAL_MEMORY, GAUGE, MEMORY, NONE, NONE, "upwell_worker_pss_bytes", \
      "Memory of the worker, with its share of pages that processes share.") \
    X(WORKER_RESTARTS, COUNTER, WORKER, RESTART, NONE, "upwell_worker_restarts_total", \
      "Worker processes that ended or were replaced.") \
    X(WORKERS, GAUGE, SERVER, WORKER_STATE, NONE, "upwell_workers", "Worker processes by state.") \
    X(INFO, INFO, SERVER, NONE, NONE, "upwell_info", "Version and settings of the server. The value is 1.")

/* Upper bounds of the buckets: X(text, nanoseconds). The last bucket has no bound. They are those of the semantic
 * conventions of OpenTelemetry. */
#define UW_METRIC_BUCKETS(X) \
    X("0.005", 5000000) \
    X("0.01", 10000000) \
    X("0.025", 25000000) \
    X("0.05", 50000000) \
    X("0.075", 75000000) \
    X("0.1", 100000000) \
    X("0.25", 250000000) \
    X("0.5", 500000000) \
    X("0.75", 750000000) \
    X("1.0", 1000000000) \
    X("2.5", 2500000000) \
    X("5.0", 5000000000) \
    X("7.5", 7500000000) \
    X("10.0", 10000000000)

#endif
