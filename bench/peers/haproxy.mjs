import { join } from 'node:path'
import { findProgram, programVersion } from '../machine.mjs'

/** @type {import('./index.mjs').Peer} */
export const haproxy = {
  name: 'haproxy',
  find() {
    const command = findProgram('haproxy')
    return command && { command, version: programVersion(command, ['-v'], /version (\d[\d.]*)/) }
  },
  plan: (setup) => ({
    files: { 'haproxy.cfg': config(setup) },
    args: ['-db', '-f', join(setup.dir, 'haproxy.cfg')],
  }),
}

function config({ port, origin, protocol, certificate }) {
  const tls = ` ssl crt ${certificate?.both} ssl-min-ver TLSv1.3 alpn http/1.1`
  const bind = { http: '', https: tls, h2c: ' proto h2' }[protocol]
  return `global
  nbthread 1
  no strict-limits
  maxconn 7000
  fd-hard-limit 18000
defaults
  mode http
  timeout connect 5s
  timeout client 600s
  timeout server 600s
  timeout http-keep-alive 600s
  option http-keep-alive
  http-reuse always
frontend traffic
  bind 127.0.0.1:${port}${bind} backlog 4096
  default_backend origin
backend origin
  server origin 127.0.0.1:${origin} pool-max-conn 64 pool-purge-delay 600s
`
}
