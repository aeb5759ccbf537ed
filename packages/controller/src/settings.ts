import { parseArgs } from 'node:util'
import type { ImageParts } from './deploy/parameters.ts'

export interface Settings {
  /** Where the controller itself is. */
  namespace: string
  /** Names this one among several controllers. */
  podName: string
  /** The Service that data planes find controllers by. */
  serviceName: string
  controllerName: string
  clusterDomain: string
  /** Where data planes connect; for themselves it is `controllerAddress`. */
  streamAddress: string
  controllerAddress: string
  healthAddress: string
  adminAddress: string
  image: ImageParts
  logLevel: string
  logFormat: 'text' | 'json'
  namespaceSelector: string | null
  kubeconfig: string | null
  leaderElection: boolean
}

export type Command =
  | { kind: 'help' | 'version' }
  | { kind: 'run'; settings: Settings }
  | { kind: 'mistake'; message: string }

interface Option {
  variable: string
  value: string
  usual: string
  help: string
}

/** Each is a flag and a variable of the environment; the flag wins. */
export const options = {
  namespace: {
    variable: 'POD_NAMESPACE',
    value: 'NAME',
    usual: 'portico-system',
    help: 'the namespace of the controller: its Lease and its certificates are there',
  },
  'service-name': {
    variable: 'SERVICE_NAME',
    value: 'NAME',
    usual: 'portico-controller',
    help: 'the Service by which data planes find controllers',
  },
  'controller-name': {
    variable: 'CONTROLLER_NAME',
    value: 'NAME',
    usual: 'portico.dev/gateway',
    help: 'classes that name it are served',
  },
  'cluster-domain': {
    variable: 'CLUSTER_DOMAIN',
    value: 'DOMAIN',
    usual: 'cluster.local',
    help: 'where Services of the cluster have their names',
  },
  'stream-addr': {
    variable: 'STREAM_ADDR',
    value: 'ADDRESS',
    usual: '[::]:9978',
    help: 'where data planes are listened for',
  },
  'controller-addr': {
    variable: 'CONTROLLER_ADDR',
    value: 'HOST:PORT',
    usual: '',
    help: 'what data planes are told to connect to; that Service, if it is not given',
  },
  'health-addr': {
    variable: 'HEALTH_ADDR',
    value: 'ADDRESS',
    usual: '[::]:9979',
    help: '/healthz, /readyz and /metrics',
  },
  'admin-addr': {
    variable: 'ADMIN_ADDR',
    value: 'ADDRESS',
    usual: 'localhost:9980',
    help: '/logging, for the Pod itself and kubectl port-forward',
  },
  image: {
    variable: 'PROXY_IMAGE',
    value: 'IMAGE',
    usual: '',
    help: 'of data planes, [REGISTRY/]REPOSITORY[:TAG][@DIGEST]; portico of this version, if it is not given',
  },
  'image-pull-policy': {
    variable: 'PROXY_IMAGE_PULL_POLICY',
    value: 'POLICY',
    usual: '',
    help: 'of data planes: Always, IfNotPresent or Never',
  },
  'namespace-selector': {
    variable: 'NAMESPACE_SELECTOR',
    value: 'LABELS',
    usual: '',
    help: 'only what is in namespaces with these labels counts, such as team=shop,stage!=test',
  },
  'log-level': {
    variable: 'LOG_LEVEL',
    value: 'LEVEL',
    usual: 'info',
    help: 'error, warn, info, debug, trace or off, and of a module: info,status=debug',
  },
  'log-format': { variable: 'LOG_FORMAT', value: 'FORMAT', usual: 'text', help: 'text or json' },
  'leader-election': {
    variable: 'LEADER_ELECTION',
    value: 'BOOLEAN',
    usual: 'true',
    help: 'false where there can never be two',
  },
  kubeconfig: {
    variable: 'KUBECONFIG',
    value: 'FILE',
    usual: '',
    help: 'outside of a cluster; inside, the service account is used',
  },
} as const satisfies Record<string, Option>

type OptionName = keyof typeof options

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
      // An empty variable is none.
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
      namespaceSelector: get('namespace-selector') || null,
      kubeconfig: get('kubeconfig') || null,
      leaderElection: oneOf('leader-election', 'true', 'false') === 'true',
    },
  }
}

/** `registry.example:5000/team/portico:1.2@sha256:…` in its parts. */
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

export const HELP = `portico-controller: Gateways of a Kubernetes cluster, served by Portico

usage: portico-controller [OPTION]...

${Object.entries(options)
  .map(([name, { variable, value, usual, help }]) => {
    const usually = usual === '' ? '' : ` (${usual})`
    return `  --${name} ${value}\n        ${help}${usually}; ${variable}\n`
  })
  .join('')}  -V, --version
        print the version
  -h, --help
        print this

Each option is a variable of the environment too, named at its end.
`
