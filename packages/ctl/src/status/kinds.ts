/** Supported kinds, with the names that kubectl accepts. The file is loaded at every start, so it imports nothing. */
const names = {
  Gateway: ['gateway', 'gateways', 'gtw'],
  ListenerSet: ['listenerset', 'listenersets', 'lset'],
  XListenerSet: ['xlistenerset', 'xlistenersets'],
  HTTPRoute: ['httproute', 'httproutes'],
  GRPCRoute: ['grpcroute', 'grpcroutes'],
  TLSRoute: ['tlsroute', 'tlsroutes'],
  TCPRoute: ['tcproute', 'tcproutes'],
  UDPRoute: ['udproute', 'udproutes'],
  GwPolicy: ['gwpolicy', 'gwpolicies', 'gwpol'],
  GwFilter: ['gwfilter', 'gwfilters', 'gwfil'],
  BackendTLSPolicy: ['backendtlspolicy', 'backendtlspolicies', 'btlspolicy'],
  InferencePool: ['inferencepool', 'inferencepools', 'infpool'],
  XBackend: ['xbackend', 'xbackends'],
  XBackendTrafficPolicy: ['xbackendtrafficpolicy', 'xbackendtrafficpolicies', 'xbtrafficpolicy'],
  XTelemetryPolicy: ['xtelemetrypolicy', 'xtelemetrypolicies'],
  GwModel: ['gwmodel', 'gwmodels'],
  GwBackend: ['gwbackend', 'gwbackends', 'gwbe'],
} as const

export type TargetKind = keyof typeof names

/** Kinds in the order in which requests pass them. */
export const targetKinds = Object.keys(names) as TargetKind[]

export function nameOfKind(text: string): TargetKind | null {
  const [bare = ''] = text.toLowerCase().split('.')
  return targetKinds.find((kind) => (names[kind] as readonly string[]).includes(bare)) ?? null
}
