import type { AiProvider } from '../../ir/resources.ts'
import type { Provider } from '../../llm/providers/provider.ts'
import type { PricedProvider } from '../../prices/create-pricer.ts'

/** The provider as prices know it. */
export function pricedProvider(
  { config }: AiProvider,
  { telemetryName, destination }: Provider,
  now: () => number,
): PricedProvider {
  const at = config.host === undefined ? '' : `${destination.host}:${destination.port}`
  return { provider: telemetryName, at, now }
}
