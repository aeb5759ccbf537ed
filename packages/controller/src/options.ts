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
    help: 'namespace of the controller, with its Lease and its certificates',
  },
  'service-name': {
    variable: 'SERVICE_NAME',
    value: 'NAME',
    usual: 'portico-controller',
    help: 'Service at which data planes find controllers',
  },
  'controller-name': {
    variable: 'CONTROLLER_NAME',
    value: 'NAME',
    usual: 'portico.dev/gateway',
    help: 'controller name of the GatewayClasses to serve',
  },
  'cluster-domain': {
    variable: 'CLUSTER_DOMAIN',
    value: 'DOMAIN',
    usual: 'cluster.local',
    help: 'DNS domain of the cluster',
  },
  'external-names': {
    variable: 'EXTERNAL_NAMES',
    value: 'HOST,HOST',
    usual: '',
    help: 'hosts that Services of type ExternalName and XBackends may name, such as db.example.com or *.example.com (default: none)',
  },
  'stream-addr': {
    variable: 'STREAM_ADDR',
    value: 'ADDRESS',
    usual: '[::]:9978',
    help: 'address to listen on for data planes',
  },
  'controller-addr': {
    variable: 'CONTROLLER_ADDR',
    value: 'HOST:PORT',
    usual: '',
    help: 'address that data planes connect to (default: the Service)',
  },
  'health-addr': {
    variable: 'HEALTH_ADDR',
    value: 'ADDRESS',
    usual: '[::]:9979',
    help: 'address of /healthz, /readyz and /metrics',
  },
  'admin-addr': {
    variable: 'ADMIN_ADDR',
    value: 'ADDRESS',
    usual: 'localhost:9980',
    help: 'address of /logging, for the Pod itself and kubectl port-forward',
  },
  image: {
    variable: 'PROXY_IMAGE',
    value: 'IMAGE',
    usual: '',
    help: 'image of data planes, [REGISTRY/]REPOSITORY[:TAG][@DIGEST] (default: portico of this version)',
  },
  'image-pull-policy': {
    variable: 'PROXY_IMAGE_PULL_POLICY',
    value: 'POLICY',
    usual: '',
    help: 'pull policy of data planes: Always, IfNotPresent or Never',
  },
  namespaces: {
    variable: 'NAMESPACES',
    value: 'NAME,NAME',
    usual: '',
    help: 'namespaces in which the controller has rights; only Gateways there are served (default: all)',
  },
  'namespace-selector': {
    variable: 'NAMESPACE_SELECTOR',
    value: 'LABELS',
    usual: '',
    help: 'serve only namespaces with these labels, such as team=shop,stage!=test',
  },
  'log-level': {
    variable: 'LOG_LEVEL',
    value: 'LEVEL',
    usual: 'info',
    help: 'log level: error, warn, info, debug, trace or off, optionally by module: info,status=debug',
  },
  'log-format': { variable: 'LOG_FORMAT', value: 'FORMAT', usual: 'text', help: 'text or json' },
  'leader-election': {
    variable: 'LEADER_ELECTION',
    value: 'BOOLEAN',
    usual: 'true',
    help: 'false when only one controller can ever run',
  },
  kubeconfig: {
    variable: 'KUBECONFIG',
    value: 'FILE',
    usual: '',
    help: 'kubeconfig outside a cluster; inside, the service account is used',
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
