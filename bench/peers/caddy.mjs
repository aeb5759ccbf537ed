import { join } from 'node:path'
import { findProgram, programVersion } from '../machine.mjs'

/** @type {import('./index.mjs').Peer} */
export const caddy = {
  name: 'caddy',
  find() {
    const command = findProgram('caddy')
    return command && { command, version: programVersion(command, ['version'], /v?(\d[\w.-]*)/) }
  },
  plan: (setup) => ({
    files: { Caddyfile: config(setup) },
    args: ['run', '--adapter', 'caddyfile', '--config', join(setup.dir, 'Caddyfile')],
    // One processor for the Go scheduler is its single worker; its files stay out of the home folder.
    env: { GOMAXPROCS: '1', HOME: setup.dir, XDG_DATA_HOME: setup.dir, XDG_CONFIG_HOME: setup.dir },
  }),
}

function config({ port, origin, protocol, certificate }) {
  const protocols = protocol === 'h2c' ? 'h1 h2c' : 'h1'
  const site = protocol === 'https' ? `https://127.0.0.1:${port}` : `http://127.0.0.1:${port}`
  const tls = `tls ${certificate?.cert} ${certificate?.key} {
    protocols tls1.3
  }`
  return `{
  admin off
  auto_https off
  log {
    level ERROR
  }
  servers {
    protocols ${protocols}
  }
}
${site} {
  ${protocol === 'https' ? tls : ''}
  reverse_proxy 127.0.0.1:${origin} {
    transport http {
      versions 1.1
      compression off
      keepalive 600s
      keepalive_idle_conns 64
      keepalive_idle_conns_per_host 64
    }
  }
}
`
}
