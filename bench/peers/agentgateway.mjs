import { join } from 'node:path'
import { programAt, programVersion } from '../machine.mjs'

/** @type {import('./index.mjs').Peer} */
export const agentgateway = {
  name: 'agentgateway',
  variable: 'BENCH_AGENTGATEWAY',
  find() {
    const command = programAt('BENCH_AGENTGATEWAY', 'agentgateway')
    return command && { command, version: programVersion(command, ['--version'], /(\d+\.\d+\.\d+[\w.-]*)/) }
  },
  plan: (setup) => ({
    // JSON is valid YAML.
    files: { 'config.yaml': JSON.stringify(config(setup)) },
    args: ['-f', join(setup.dir, 'config.yaml')],
    env: { WORKER_THREADS: '1', RUST_LOG: 'warn' },
    ready: `http://127.0.0.1:${setup.readinessPort}/healthz/ready`,
  }),
}

function config({ port, readinessPort, origin, protocol, certificate, provider }) {
  const host = `127.0.0.1:${origin}`
  const models = { ai: { name: 'models', hostOverride: host, provider: { openAI: {} } } }
  const route = {
    ...(provider && { policies: { backendAuth: { key: 'key-of-the-gateway' } } }),
    backends: [provider ? models : { host }],
  }
  const tls = { protocol: 'HTTPS', tls: { cert: certificate?.cert, key: certificate?.key } }
  const listener = { ...(protocol === 'https' || protocol === 'h2' ? tls : { protocol: 'HTTP' }), routes: [route] }
  return {
    config: {
      adminAddr: '127.0.0.1:0',
      statsAddr: '127.0.0.1:0',
      readinessAddr: `127.0.0.1:${readinessPort}`,
    },
    binds: [{ port, listeners: [listener] }],
  }
}
