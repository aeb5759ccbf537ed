const LOGS = 'docs/logs-and-metrics.md'

/** The notes of the import report for directives that are not carried. */
export const DIRECTIVE_NOTES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ log: LOGS, log_append: LOGS, log_skip: LOGS, log_name: LOGS, skip_log: LOGS, tracing: 'docs/tracing.md' },
    encode: 'responses are not compressed',
    file_server: 'files are not served',
    php_fastcgi: 'backends speak HTTP',
    acme_server: 'certificates are not issued here',
    metrics: LOGS,
    root: 'files are not served',
    fs: 'files are not served',
    templates: 'files are not served',
    push: 'HTTP/2 push is not supported',
    map: 'placeholders of maps are not known',
    vars: 'placeholders of variables are not known',
    handle_errors: 'errors of backends pass as they are',
    request_body: 'bodies stream; policies that read bodies have frontend.http.maxBufferSize',
    copy_response: 'responses pass as they are',
    copy_response_headers: 'responses pass as they are',
    intercept: 'responses pass as they are',
    cache: 'responses are not cached',
    rate_limit: 'limits are a rateLimit policy: docs/policies/traffic-rate-limit.md',
    tls: 'tls of listeners: docs/tls.md',
    bind: 'the address of a port',
  }),
)

/** Whether a directive that the importer does not know may restrict access, judging by the directive's name. */
export function isProtective(name: string): boolean {
  return /auth|jwt|security|waf|crowdsec|geo|filter|bouncer|defender|deny|allow|block|sso|saml|oidc|^ip/i.test(name)
}

/** Whether the import report marks a directive as protection because it restricts access. */
export function limitsAccess(name: string): boolean {
  return isProtective(name) || /limit|^abort$|client_auth|^remote_ip$/.test(name)
}

/** The notes of the import report for global options that are not carried. */
export const OPTION_NOTES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    admin: 'docs/admin-api.md',
    email: 'certificates are not issued here: docs/tls.md',
    log: LOGS,
    debug: LOGS,
    metrics: LOGS,
    grace_period: 'docs/reload-and-shutdown.md',
    shutdown_delay: 'docs/reload-and-shutdown.md',
    servers: 'frontend policies: docs/policies/README.md',
    default_sni: 'the listener without a hostname',
    storage: 'certificates are files: docs/tls.md',
    on_demand_tls: 'certificates are not issued here: docs/tls.md',
    local_certs: 'certificates are not issued here: docs/tls.md',
    skip_install_trust: 'certificates are not issued here: docs/tls.md',
    pki: 'certificates are not issued here: docs/tls.md',
    key_type: 'certificates are not issued here: docs/tls.md',
    ocsp_stapling: 'certificates are not issued here: docs/tls.md',
    persist_config: 'a setting of the process of Caddy',
    layer4: 'TCP listeners: docs/tls.md',
  }),
)
