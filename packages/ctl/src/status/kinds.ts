/** Kinds that one can ask about, by the names that kubectl knows them by. This is loaded at every start: it imports nothing. */
const names = {
  Gateway: ['gateway', 'gateways', 'gtw'],
  ListenerSet: ['listenerset', 'listenersets', 'lset'],
  HTTPRoute: ['httproute', 'httproutes'],
  GRPCRoute: ['grpcroute', 'grpcroutes'],
  TLSRoute: ['tlsroute', 'tlsroutes'],
  TCPRoute: ['tcproute', 'tcproutes'],
  GwPolicy: ['gwpolicy', 'gwpolicies', 'gwpol'],
  BackendTLSPolicy: ['backendtlspolicy', 'backendtlspolicies', 'btlspolicy'],
  GwBackend: ['gwbackend', 'gwbackends', 'gwbe'],
} as const

export type AskedKind = keyof typeof names

/** In the order in which requests meet them. */
export const askedKinds = Object.keys(names) as AskedKind[]

export function nameOfKind(text: string): AskedKind | null {
  const [bare = ''] = text.toLowerCase().split('.')
  return askedKinds.find((kind) => (names[kind] as readonly string[]).includes(bare)) ?? null
}
