interface Option {
  variable: string
  value: string
  usual: string
  help: string
}

/** The options. Each is a flag and an environment variable; the flag wins. */
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
  namespaces: {
    variable: 'NAMESPACES',
    value: 'NAME,NAME',
    usual: '',
    help: 'namespaces in which the controller has rights; only Gateways there are served. All namespaces, if it is not given',
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

export type OptionName = keyof typeof options

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
