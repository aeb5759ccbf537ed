import { existsSync, readFileSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { stringify } from 'yaml'
import { projectNode } from '../machine.mjs'
import { KEY_PARAMETER, writeKeys } from '../stored-keys.mjs'
import { ISSUER } from '../token.mjs'
import { MCP_PATH } from '../tool-call.mjs'

const project = resolve(import.meta.dirname, '../..')
const gateway = join(project, 'packages/gateway')

/** @type {import('./index.mjs').Peer} */
export const portico = {
  name: 'portico',
  many: true,
  find: (options) =>
    findProgram(
      options.portico
        ? [resolve(options.portico)]
        : [join(gateway, 'dist/portico.js'), join(gateway, 'bin/portico.mjs')],
    ),
  plan: (setup) => {
    if (setup.stored) writeKeys(join(setup.dir, 'state'), setup.stored)
    return {
      files: { 'gateway.yaml': textOf(setup) },
      args: ['-f', join(setup.dir, 'gateway.yaml')],
      env: { WORKER_THREADS: String(setup.workers) },
      ready: `http://127.0.0.1:${setup.readinessPort}/healthz/ready`,
      ...(setup.spend && { makeKey: () => makeKey(setup.adminPort) }),
    }
  },
}

/** An older build, so that both are measured under the same conditions. */
export const before = {
  ...portico,
  name: 'before',
  find: (options) => (options.before ? findProgram([resolve(options.before)]) : null),
}

function findProgram(programs) {
  const program = programs.find((path) => existsSync(path))
  if (!program) return null
  const { version } = JSON.parse(readFileSync(join(gateway, 'package.json'), 'utf8'))
  return {
    command: projectNode(),
    args: [program],
    version: `${version} (${program.startsWith(project) ? relative(project, program) : basename(program)})`,
  }
}

/** Creates a key with a budget that is larger than any load can spend. */
async function makeKey(port) {
  const response = await fetch(`http://127.0.0.1:${port}/api/keys`, {
    method: 'POST',
    headers: { 'x-portico-same-origin': '1', 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bench', budgets: [{ usd: 1_000_000, per: 'Day' }] }),
  })
  if (!response.ok) throw new Error(`the key was not made: ${await response.text()}`)
  const { secret } = await response.json()
  return { authorization: `Bearer ${secret}` }
}

/** The config of the reload scenario is formatted like a handwritten file. */
function textOf(setup) {
  if (!setup.probed) return JSON.stringify(config(setup))
  const { binds, ...rest } = config(setup)
  const probe = {
    name: 'probe',
    matches: [{ path: { exact: '/probe' } }],
    policies: { directResponse: { status: 200, body: 'version-0' } },
  }
  const [{ routes }] = binds[0].listeners
  routes.splice(routes.length / 2, 0, probe)
  return stringify({ ...rest, binds }, { aliasDuplicateObjects: false })
}

function config(setup) {
  const {
    port,
    readinessPort,
    origin,
    protocol,
    certificate,
    routes,
    jwks,
    provider,
    cache,
    spend,
    stored,
    redis,
    tools,
    workers,
    keys,
    rules,
    logs,
  } = setup
  const { policies = {}, frontend, backend } = setup.extension ? extensionOf(setup) : securedBackend(setup)
  const route = (name, pathPrefix) => ({
    name,
    matches: [{ path: { pathPrefix } }],
    backends: [backend ?? backendOf({ provider, cache, tools, origin })],
    policies: {
      ...(jwks && securedBy(jwks)),
      ...(keys && limitedBy(keys)),
      ...(rules && ruledBy(rules)),
      ...(spend && { apiKeyAuthentication: { store: {} } }),
      ...(stored && storeOfKeys()),
      ...policies,
      backend: { http: { version: 'HTTP1' }, ...((spend || stored) && { prices: {} }) },
    },
  })
  const listener = {
    ...(protocol === 'https' || protocol === 'h2'
      ? { protocol: 'HTTPS', tls: { cert: certificate?.cert, key: certificate?.key } }
      : { protocol: 'HTTP' }),
    routes: routes > 1 ? Array.from({ length: routes }, (_, i) => route(`r${i}`, `/r${i}`)) : [route('all', '/')],
  }
  return {
    config: {
      workers,
      adminAddr: setup.adminPort ? `127.0.0.1:${setup.adminPort}` : 'off',
      statsAddr: 'off',
      readinessAddr: `127.0.0.1:${readinessPort}`,
      ...(spend && { stateDir: join(setup.dir, 'state'), keys: {}, ledger: {} }),
      ...(stored && { stateDir: join(setup.dir, 'state'), keys: { maxKeys: stored } }),
      ...(setup.backend === 'hbone' && meshOf(setup.mesh)),
      ...(redis && { stores: { redis: { url: `redis://127.0.0.1:${redis}` } } }),
      logging: { level: logs ? 'warn,request=info' : 'warn,request=off' },
    },
    ...(frontend && { frontend }),
    binds: [{ port, listeners: [listener] }],
  }
}

/** The extensions with which Envoy is compared. */
function extensionOf({ extension, origin, services }) {
  const backendRef = { host: `127.0.0.1:${services}` }
  switch (extension) {
    case 'extAuthGrpc':
      return { policies: { extAuth: { backendRef } } }
    case 'extAuthHttp':
      return { policies: { extAuth: { backendRef: { host: `127.0.0.1:${origin}` }, http: {} } } }
    case 'extProc': {
      const processingOptions = { requestBodyMode: 'None', responseBodyMode: 'None' }
      return { policies: { extProc: { backendRef, processingOptions } } }
    }
    case 'picker':
      return { backend: { inferencePool: { endpoints: [`127.0.0.1:${origin}`], picker: { backendRef } } } }
    case 'globalLimit': {
      const descriptors = [{ entries: [{ name: 'client', expression: '"all"' }] }]
      return { policies: { rateLimit: { global: { backendRef, domain: 'bench', descriptors } } } }
    }
    case 'otlpLog':
      return { frontend: { accessLog: { otlp: { backendRef } } } }
    case 'tracing':
      return { frontend: { tracing: { backendRef, randomSampling: 1 } } }
    case 'tracingSome':
      return { frontend: { tracing: { backendRef, randomSampling: 0.01 } } }
    case 'recorderOff':
      return { frontend: { recorder: { enabled: false } } }
    default:
      throw new Error(`no config for ${extension}`)
  }
}

/** A backend that is called with TLS, or as a workload of the mesh through HBONE. */
function securedBackend({ backend, mesh, origin }) {
  if (backend === 'tls') {
    return { backend: { host: `127.0.0.1:${mesh.tls}`, policies: { tls: { caCertificateRefs: [mesh.root] } } } }
  }
  if (backend !== 'hbone') return {}
  return { backend: { host: `127.0.0.1:${origin}`, policies: { tunnel: { hbone: { port: mesh.hbone } } } } }
}

function meshOf({ ca, root, token }) {
  const caAddress = `https://127.0.0.1:${ca}`
  return { mesh: { caAddress, rootFile: root, tokenFile: token, namespace: 'bench', serviceAccount: 'gateway' } }
}

function backendOf({ provider, cache, tools, origin }) {
  if (provider) return models({ provider, cache }, origin)
  if (!tools) return { host: `127.0.0.1:${origin}` }
  return { mcp: { targets: [{ name: 'origin', static: { host: '127.0.0.1', port: origin, path: MCP_PATH } }] } }
}

/** The requests have a temperature. */
const CACHED = { ai: { cache: { ttl: '1h', when: 'true', scope: '"all"' } } }

function models({ provider, cache }, origin) {
  return {
    ai: { provider: { [provider]: {}, host: '127.0.0.1', port: origin } },
    policies: { auth: { key: 'key-of-the-gateway' }, ...(cache && CACHED) },
  }
}

// Each request picks a key; a bucket lives for an hour.
function limitedBy(keys) {
  const key = `int(random() * ${keys}.0)`
  return { rateLimit: { local: [{ requests: 100_000_000, unit: 'Hours', key, keys: { size: keys } }] } }
}

function storeOfKeys() {
  return { apiKeyAuthentication: { store: {}, location: { queryParameter: { name: KEY_PARAMETER } } } }
}

/** Returns an authorization policy whose rules allow each request of the load. */
function ruledBy(mode) {
  const rules = [
    { deny: 'request.path.startsWith("/internal")' },
    { require: 'request.method in ["GET", "POST"]' },
    'request.path.startsWith("/")',
  ]
  return { authorization: { mode, rules } }
}

// The limit is far above the load, so that every request is counted and none is denied.
function securedBy(jwks) {
  return {
    jwtAuthentication: { providers: [{ issuer: ISSUER, audiences: ['api'], jwks: { inline: jwks } }] },
    authorization: { rules: ['jwt.sub == "u1" && "admin" in jwt.groups'] },
    rateLimit: { local: [{ requests: 1_000_000, unit: 'Seconds' }] },
  }
}
