import { parseArgs } from 'node:util'
import type { ImageParts } from './deploy/parameters.ts'
import { type OptionName, options } from './options.ts'

export interface Settings {
  /** The namespace of the controller itself. */
  namespace: string
  /** The Pod of this controller, which identifies it among several. */
  podName: string
  /** The Service at which data planes find controllers. */
  serviceName: string
  controllerName: string
  clusterDomain: string
  /** Hosts that Services of type ExternalName and XBackends may name; empty allows none. */
  externalNames: readonly string[]
  /** The address to listen on for data planes; they connect to `controllerAddress`. */
  streamAddress: string
  controllerAddress: string
  healthAddress: string
  adminAddress: string
  image: ImageParts
  logLevel: string
  logFormat: 'text' | 'json'
  /** The only namespaces in which the controller has rights; null when it has rights in all. */
  namespaces: readonly string[] | null
  namespaceSelector: string | null
  kubeconfig: string | null
  leaderElection: boolean
}

type Command = { kind: 'help' | 'version' } | { kind: 'run'; settings: Settings } | { kind: 'mistake'; message: string }

export function parseCommand(args: readonly string[], env: Readonly<Record<string, string | undefined>>): Command {
  try {
    const flags = Object.fromEntries(Object.keys(options).map((name) => [name, { type: 'string' as const }]))
    const { values } = parseArgs({
      args: [...args],
      options: { ...flags, version: { type: 'boolean', short: 'V' }, help: { type: 'boolean', short: 'h' } },
      allowPositionals: false,
    })
    if (values['help'] === true) return { kind: 'help' }
    if (values['version'] === true) return { kind: 'version' }
    const get = (name: OptionName): string => {
      const { variable, usual } = options[name]
      const flag = (values as Record<string, unknown>)[name]
      // An empty variable counts as unset.
      return (typeof flag === 'string' ? flag : env[variable]) || usual
    }
    return settingsOf(get, env)
  } catch (error) {
    return { kind: 'mistake', message: error instanceof Error ? error.message : String(error) }
  }
}

function settingsOf(get: (name: OptionName) => string, env: Readonly<Record<string, string | undefined>>): Command {
  const oneOf = (name: OptionName, ...allowed: string[]): string => {
    const value = get(name)
    if (!allowed.includes(value))
      throw new Error(`--${name}: found ${JSON.stringify(value)}, expected ${allowed.filter(Boolean).join(' or ')}`)
    return value
  }
  const namespace = get('namespace')
  const pullPolicy = oneOf('image-pull-policy', '', 'Always', 'IfNotPresent', 'Never')
  const image = get('image') === '' ? {} : imageOf(get('image'))
  return {
    kind: 'run',
    settings: {
      namespace,
      podName: env['POD_NAME'] || env['HOSTNAME'] || 'portico-controller',
      serviceName: get('service-name'),
      controllerName: get('controller-name'),
      clusterDomain: get('cluster-domain'),
      externalNames: externalNamesOf(get('external-names')),
      streamAddress: get('stream-addr'),
      controllerAddress: get('controller-addr') || `${get('service-name')}.${namespace}.svc:9978`,
      healthAddress: get('health-addr'),
      adminAddress: get('admin-addr'),
      image: {
        ...image,
        ...(pullPolicy !== '' && { pullPolicy }),
      },
      logLevel: get('log-level'),
      logFormat: oneOf('log-format', 'text', 'json') === 'json' ? 'json' : 'text',
      namespaces: namespacesOf(get('namespaces')),
      namespaceSelector: get('namespace-selector') || null,
      kubeconfig: get('kubeconfig') || null,
      leaderElection: oneOf('leader-election', 'true', 'false') === 'true',
    },
  }
}

/** Returns null for an empty list, which means all namespaces. */
function namespacesOf(text: string): string[] | null {
  const names = text.split(',').map((name) => name.trim())
  const wrong = names.find((name) => !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name))
  if (text.trim() === '') return null
  if (wrong !== undefined)
    throw new Error(
      `--namespaces: found ${JSON.stringify(wrong)}, expected names of namespaces with commas between them`,
    )
  return [...new Set(names)]
}

/** Hosts in lower case; `*` alone is rejected, because it would let every Service name every host. */
function externalNamesOf(text: string): string[] {
  const names = text.split(',').flatMap((name) => name.trim().toLowerCase() || [])
  const wrong = names.find(
    (name) => !/^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name),
  )
  if (wrong !== undefined) {
    const found = JSON.stringify(wrong)
    throw new Error(`--external-names: found ${found}, expected hosts such as db.example.com or *.example.com`)
  }
  return [...new Set(names)]
}

/** Splits `registry.example:5000/team/portico:1.2@sha256:…` into its parts. */
export function imageOf(text: string): ImageParts {
  const [, name = '', tag, digest] = /^([^@]+?)(?::([\w][\w.-]*))?(?:@(\w+:\w+))?$/.exec(text) ?? []
  if (name === '')
    throw new Error(`--image: found ${JSON.stringify(text)}, expected [REGISTRY/]REPOSITORY[:TAG][@DIGEST]`)
  const [first = '', ...rest] = name.split('/')
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost')
  return {
    ...(hasRegistry && { registry: first }),
    repository: hasRegistry ? rest.join('/') : name,
    ...(tag !== undefined && { tag }),
    ...(digest !== undefined && { digest }),
  }
}
