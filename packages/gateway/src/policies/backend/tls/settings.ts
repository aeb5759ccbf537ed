import { ConfigFault } from '../../../pipeline/compiled/config-fault.ts'
import { clientTlsProblem, type ConnectionSettings } from '@portico/http/client'
import type { BackendTlsConfig } from './schema.ts'

export function applyTls(settings: ConnectionSettings, config: BackendTlsConfig): void {
  const tls = { ...config, caCertificateRefs: config.caCertificateRefs?.join('\n') }
  const problem = clientTlsProblem(tls)
  if (problem !== null) {
    const phrases = { found: `found ${problem.message}`, expected: 'valid TLS settings' }
    throw new ConfigFault(config, [problem.of], phrases)
  }
  settings.tls = tls
}
