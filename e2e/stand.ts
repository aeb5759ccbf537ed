import type { Endpoint } from '../packages/gateway/src/testing/sdk-clients/client.ts'
import { type FakeProvider, startFakeProvider } from '../packages/gateway/src/testing/providers/server.ts'
import { type ShippedGateway, startShippedGateway } from './shipped-gateway.ts'
import type { Target } from './targets.ts'

/** A gateway with one provider, and the fake behind it. */
export interface Stand {
  gateway: ShippedGateway
  fake: FakeProvider
  /** The URL and key for a client library, instead of the vendor's. */
  endpoint: Endpoint
  close(): Promise<void>
}

/** `routes` sets route types by path, when the default ones do not fit. */
export async function startStand(target: Target, routes?: Record<string, string>): Promise<Stand> {
  const fake = await startFakeProvider(target.vendor())
  const provider = { ...target.provider, host: '127.0.0.1', port: fake.port }
  const policies = { auth: target.auth, ...(routes !== undefined && { ai: { routes } }) }
  const gateway = await startShippedGateway(gatewayConfig({ ai: { provider }, policies }))
  return {
    gateway,
    fake,
    endpoint: { url: `http://127.0.0.1:${gateway.port()}`, key: 'client-key' },
    async close() {
      await gateway.close()
      await fake.close()
    },
  }
}

/** One listener whose only route goes to this backend. */
export function gatewayConfig(backend: object): object {
  return { binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes: [{ backends: [backend] }] }] }] }
}
