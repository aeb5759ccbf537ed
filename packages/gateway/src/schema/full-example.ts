/** A file that sets every field at least once, for tests of the printers. */
export function fullExample() {
  const keepalive = { retries: 3, time: '60s', interval: '10s' }
  const groups = ['X25519_MLKEM768', 'p-256']
  const backendPolicies = {
    tcp: { keepalive, connectTimeout: '2s' },
    tls: {
      mtlsCertificateRef: { cert: 'a.crt', key: 'a.key', ca: 'ca.crt' },
      caCertificateRefs: ['ca.crt'],
      sni: 'users.internal',
      verifySubjectAltNames: ['users.internal'],
      alpnProtocols: ['h2'],
      keyExchangeGroups: groups,
    },
    http: { version: 'HTTP2', requestTimeout: '3s' },
  }
  const headers = [{ name: 'X-A', value: 'a' }]
  const listenerPolicies = {
    cors: {
      allowOrigins: ['https://a.example', '*'],
      allowMethods: ['GET', '*'],
      allowHeaders: ['*'],
      exposeHeaders: ['x-id'],
      allowCredentials: true,
      maxAge: 600,
    },
    directResponse: { status: 503, body: 'away', headers },
    headerModifiers: { request: { set: headers, add: headers, remove: ['x-b'] }, response: { set: headers } },
    hostRewrite: { mode: 'Auto' },
    retry: { attempts: 2, backoff: '100ms', codes: [502, 503] },
    timeouts: { request: '10s' },
    upgrades: { protocols: ['websocket', 'connect'] },
  }
  const routePolicies = {
    ...listenerPolicies,
    urlRewrite: { authority: { full: 'example.com:8080' }, path: { prefix: '/api' } },
    requestRedirect: { scheme: 'https', authority: { host: 'example.com' }, path: { full: '/new' }, status: 301 },
    requestMirror: { backend: 'users', percentage: 5.5 },
    backend: backendPolicies,
  }
  const matches = [
    {
      path: { pathPrefix: '/v1' },
      method: 'GET',
      headers: [{ name: ':authority', value: { exact: 'a' } }],
      query: [{ name: 'v', value: { regex: '[0-9]+' } }],
    },
    { path: { exact: '/a' } },
    { path: { regex: '/[a-z]+' } },
  ]
  return {
    config: {
      workers: 2,
      adminAddr: '127.0.0.1:15000',
      statsAddr: '[::]:15020',
      readinessAddr: 'off',
      enableIpv6: false,
      connectionMinTerminationDeadline: '1s',
      connectionTerminationDeadline: '30s',
      logging: { level: 'info,upstream=debug', format: 'json' },
      dns: { lookupFamily: 'V4Only' },
      backend: { connectTimeout: '5s', poolIdleTimeout: '30s', poolMaxSize: 100 },
    },
    frontend: {
      tcp: { keepalive },
      tls: {
        handshakeTimeout: '5s',
        alpnProtocols: ['h2', 'http/1.1'],
        minProtocolVersion: 1.2,
        maxProtocolVersion: '1.3',
        cipherSuites: ['TLS13_AES_256_GCM_SHA384'],
        keyExchangeGroups: groups,
      },
      http: {
        maxBufferSize: '2mb',
        http1MaxHeaders: 50,
        http1IdleTimeout: '1m',
        http2WindowSize: '1Mi',
        http2ConnectionWindowSize: 1_048_576,
        http2FrameSize: 16_384,
        http2MaxHeaderSize: '32Ki',
        http2KeepaliveInterval: '10s',
        http2KeepaliveTimeout: '20s',
        maxConnectionDuration: '1h',
      },
      proxyProtocol: { version: 'all', mode: 'optional' },
      forwardedHeaders: { mode: 'append', trustedProxies: ['10.0.0.0/8'] },
    },
    backends: [
      { name: 'users', static: { host: 'users.internal', port: 8080 }, policies: backendPolicies },
      { name: 'socket', static: { unixPath: '/run/app.sock' } },
      { name: 'outside', dynamicForwardProxy: { allowCidrs: ['10.0.0.0/8'], ports: [443] } },
    ],
    binds: [
      {
        port: 8443,
        address: '127.0.0.1',
        listeners: [
          {
            name: 'web',
            protocol: 'https',
            hostname: '*.example.com',
            tls: { cert: 'tls.crt', key: 'tls.key', root: 'ca.crt' },
            policies: listenerPolicies,
            routes: [
              {
                name: 'api',
                hostnames: ['api.example.com'],
                matches,
                policies: routePolicies,
                backends: [
                  { backend: 'users', weight: 9 },
                  { host: '127.0.0.1:9000', policies: { http: { version: 'http1' } } },
                  { dynamicForwardProxy: {} },
                ],
              },
            ],
          },
        ],
      },
    ],
  }
}
