import { fileURLToPath } from 'node:url'
import { NODE_ADDRESS, NODE_NAME } from './kubelet/node-settings.ts'
import { bedFiles, type BedSettings, type Program } from './settings.ts'

const KUBELET = fileURLToPath(new URL('kubelet/main.ts', import.meta.url))
export const ETCD = 'http://127.0.0.1:2379'
export const API_PORT = 6443

/** The controllers that a gateway's work meets; no leader is elected among one. */
const CONTROLLERS = [
  'daemonset-controller',
  'deployment-controller',
  'disruption-controller',
  'endpointslice-controller',
  'garbage-collector-controller',
  'horizontal-pod-autoscaler-controller',
  'namespace-controller',
  'replicaset-controller',
  'root-ca-certificate-publisher-controller',
  'serviceaccount-controller',
]

/** The command of each program. */
export function commandOf(program: Program, folder: string, { trustBundles }: BedSettings): [string, ...string[]] {
  const files = bedFiles(folder)
  switch (program) {
    case 'etcd':
      return [
        'etcd',
        ...flags({
          'data-dir': files.etcd,
          'unsafe-no-fsync': true,
          logger: 'zap',
          'log-level': 'warn',
          'listen-client-urls': ETCD,
          'advertise-client-urls': ETCD,
          'listen-peer-urls': 'http://127.0.0.1:2380',
        }),
      ]
    case 'kube-apiserver':
      return [
        'kube-apiserver',
        ...flags({
          'etcd-servers': ETCD,
          'secure-port': API_PORT,
          'bind-address': '0.0.0.0',
          'advertise-address': NODE_ADDRESS,
          'client-ca-file': files.ca,
          'tls-cert-file': files.server.cert,
          'tls-private-key-file': files.server.key,
          'token-auth-file': files.tokens,
          'service-account-issuer': 'https://kubernetes.default.svc',
          'service-account-key-file': files.accounts.public,
          'service-account-signing-key-file': files.accounts.private,
          'service-cluster-ip-range': '10.96.0.0/16',
          'authorization-mode': 'Node,RBAC',
          'allow-privileged': true,
          'enable-priority-and-fairness': false,
          // The plugin taints new nodes until a controller that the bed does without sees them; DaemonSets avoid them.
          'disable-admission-plugins': 'TaintNodesByCondition',
          'kubelet-client-certificate': files.toKubelet.cert,
          'kubelet-client-key': files.toKubelet.key,
          'kubelet-certificate-authority': files.ca,
          'kubelet-preferred-address-types': 'InternalIP',
          ...(trustBundles && {
            'feature-gates': 'ClusterTrustBundle=true',
            'runtime-config': 'certificates.k8s.io/v1beta1/clustertrustbundles=true',
          }),
        }),
      ]
    case 'kube-controller-manager':
      return [
        'kube-controller-manager',
        ...flags({
          kubeconfig: files.kubeconfig,
          'leader-elect': false,
          'bind-address': '127.0.0.1',
          'root-ca-file': files.ca,
          'service-account-private-key-file': files.accounts.private,
          'kube-api-qps': 200,
          'kube-api-burst': 400,
          controllers: CONTROLLERS.join(','),
        }),
      ]
    case 'kube-proxy':
      return ['kube-proxy', ...flags({ config: files.proxy })]
    case 'kubelet':
      return [process.execPath, KUBELET, files.kubelet]
  }
}

/** kube-proxy's config: by packet rules, which change a moment after a Service does. */
export function proxyConfig(folder: string): object {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    clientConnection: { kubeconfig: bedFiles(folder).kubeconfig },
    clusterCIDR: '10.244.0.0/16',
    bindAddress: NODE_ADDRESS,
    metricsBindAddress: '127.0.0.1:10249',
    healthzBindAddress: '127.0.0.1:10256',
    hostnameOverride: NODE_NAME,
    // Settings of the machine, which are not the bed's to change.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    nftables: { syncPeriod: '30s', minSyncPeriod: '50ms' },
  }
}

function flags(values: Readonly<Record<string, string | number | boolean>>): string[] {
  return Object.entries(values).map(([name, value]) => `--${name}=${value}`)
}
