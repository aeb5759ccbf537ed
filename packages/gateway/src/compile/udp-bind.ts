import type { Deadlines } from '@portico/http'
import { admitting } from '../policies/frontend/network-authorization/admit.ts'
import type { DatagramObserver, DatagramState } from '@portico/http/server'
import { DatagramServer, DatagramSocket } from '@portico/http/udp'
import type { BindParts, BindServices } from './bind-parts.ts'
import { connectionCap } from '../policies/frontend/tcp/connection-cap.ts'
import type { Listener } from '../ir/resources.ts'
import { ConfigFault } from '../pipeline/compiled/config-fault.ts'
import { gatewayName } from '../pipeline/context/proxy-identity.ts'
import { FailedEndpoints } from '../pipeline/run/failed-endpoints.ts'
import { DatagramRun, type DatagramServices } from '../pipeline/run/run-datagrams.ts'
import type { FrontendPolicies } from '../policies/index.ts'
import type { LabelValues } from '../telemetry/metrics/families.ts'

export interface CompiledUdpBind {
  transport: 'udp'
  state: DatagramState<DatagramRun>
  address: string
  labels: LabelValues<'downstream_connections_total'>
  createServer: (
    state: DatagramState<DatagramRun>,
    deadlines: Deadlines,
    observer: DatagramObserver,
  ) => DatagramServer<DatagramRun>
}

/** Compiles a UDP port, which has one listener. Only configs with such a port load this code. */
export function compileUdpBind(
  { bind, sources, listeners, frontend, network, networkShadow, telemetry }: BindParts,
  services: BindServices,
): CompiledUdpBind {
  const [listener] = listeners
  if (listener === undefined) throw new Error('a port without a listener')
  for (const source of sources) refuseUnread(source, frontend)
  const { idleTimeout = 60_000, maxSessions = 16_384, maxSessionsPerAddress = 1_024 } = frontend.udp ?? {}
  const runServices: DatagramServices = {
    networkShadow,
    random: services.random,
    now: services.now,
    finished: telemetry.connectionFinished.bind(telemetry),
    failures: services.kept.shared('failed endpoints of datagrams', () => new FailedEndpoints(services.now)),
    openSocket: (address, handler) => new DatagramSocket(address, handler),
  }
  return {
    transport: 'udp',
    address: bind.address,
    labels: [bind.key, gatewayName(services.identity), listener.name, 'udp'],
    createServer: (state, deadlines, observer) => new DatagramServer(state, deadlines, observer),
    state: {
      idleTimeoutMs: idleTimeout,
      cap: connectionCap(bind.key, frontend.udp, maxSessions, services),
      maxSessionsPerAddress,
      admits: admitting(network, networkShadow),
      onSession(_info, client) {
        const run = new DatagramRun(listener, client, runServices)
        run.start()
        return run
      },
      keeps: (run) => run.isServedBy(listener),
      onRefused(info, code) {
        const rules = code === 'network_authorization' ? network?.explain(info) : undefined
        telemetry.refused({ source: info.source, sni: '' }, { code, error: '', rules, listener, protocol: 'udp' })
      },
    },
  }
}

/** The source of a datagram decides access, so a PROXY header that would change it must not be ignored. */
function refuseUnread(_listener: Listener, { proxyProtocol }: FrontendPolicies): void {
  if (proxyProtocol === undefined) return
  const found = 'found `proxyProtocol` for a gateway with a UDP listener'
  throw new ConfigFault(proxyProtocol, [], { found, expected: 'no PROXY headers, because datagrams have none' })
}
