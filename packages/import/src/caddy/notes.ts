const LOGS = 'configure logs and metrics in the gateway: docs/logs-and-metrics.md'

/** The notes of the import report for directives that are not carried. */
export const DIRECTIVE_NOTES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{
      log: LOGS,
      log_append: LOGS,
      log_skip: LOGS,
      log_name: LOGS,
      skip_log: LOGS,
      tracing: 'configure tracing in frontend.tracing: docs/tracing.md',
    },
    encode: 'the gateway does not compress responses',
    file_server: 'the gateway serves no files',
    php_fastcgi: 'the gateway calls backends by HTTP only',
    acme_server: 'the gateway obtains no certificates',
    metrics: LOGS,
    root: 'the gateway serves no files',
    fs: 'the gateway serves no files',
    templates: 'the gateway serves no files',
    push: 'the gateway has no HTTP/2 push',
    map: 'the importer does not read placeholders that map defines',
    vars: 'the importer does not read placeholders that vars defines',
    handle_errors: 'the gateway does not replace error responses of backends',
    request_body: 'the gateway streams bodies; frontend.http.maxBufferSize limits the bodies that policies read',
    copy_response: 'the gateway does not replace responses of backends',
    copy_response_headers: 'the gateway does not replace responses of backends',
    intercept: 'the gateway does not replace responses of backends',
    cache: 'the gateway does not cache HTTP responses',
    rate_limit: 'configure a rateLimit policy: docs/policies/traffic-rate-limit.md',
    tls: 'configure certificates in tls of listeners: docs/tls.md',
    bind: 'the directive sets the address of the imported port',
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
    admin: 'the gateway has an admin API: docs/admin-api.md',
    email: 'the gateway obtains no certificates; configure certificate files: docs/tls.md',
    log: LOGS,
    debug: LOGS,
    metrics: LOGS,
    grace_period: 'configure the shutdown of the gateway: docs/reload-and-shutdown.md',
    shutdown_delay: 'configure the shutdown of the gateway: docs/reload-and-shutdown.md',
    servers: 'configure frontend policies: docs/policies/README.md',
    default_sni: 'configure a listener without a hostname as the default',
    storage: 'configure certificate files: docs/tls.md',
    on_demand_tls: 'the gateway obtains no certificates; configure certificate files: docs/tls.md',
    local_certs: 'the gateway obtains no certificates; configure certificate files: docs/tls.md',
    skip_install_trust: 'the gateway obtains no certificates; configure certificate files: docs/tls.md',
    pki: 'the gateway obtains no certificates; configure certificate files: docs/tls.md',
    key_type: 'the gateway obtains no certificates; configure certificate files: docs/tls.md',
    ocsp_stapling: 'the gateway obtains no certificates; configure certificate files: docs/tls.md',
    persist_config: 'the option sets up the process of Caddy',
    layer4: 'configure TCP listeners: docs/tls.md',
  }),
)
