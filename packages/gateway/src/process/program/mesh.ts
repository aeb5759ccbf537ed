import { dirname, resolve } from 'node:path'
import { parseCaAddress } from '../../formats/address.ts'
import { CertificateSource } from '../../mesh/certificate-source.ts'
import type { MeshState } from '../../mesh/received-identity.ts'
import type { ProcessConfig } from '../../sources/config/schema.ts'
import type { Logger } from '../../telemetry/log/logger.ts'
import type { Collector } from '../../telemetry/metrics/metrics-collect.ts'

interface MeshParts {
  /** The path of the config file, which other files are relative to. */
  configFile: string
  /** The identity of this gateway, for a config without one. */
  namespace: string
  serviceAccount: string
  changed: (state: MeshState) => void
  collector: Collector
  log: Logger
}

/** Starts to obtain and renew the mesh certificate, and provides its metrics. */
export function startMesh(config: NonNullable<ProcessConfig['mesh']>, parts: MeshParts): CertificateSource {
  const { configFile, changed, collector, log } = parts
  const { trustDomain, namespace = parts.namespace, serviceAccount = parts.serviceAccount } = config
  const ca = parseCaAddress(config.caAddress)
  // The schema has validated the address.
  if (ca === null) throw new Error(`mesh CA address ${config.caAddress}`)
  const folder = dirname(configFile)
  const source = new CertificateSource({
    ca,
    identity: { trustDomain, namespace, serviceAccount },
    clusterId: config.clusterId,
    tokenFile: resolve(folder, config.tokenFile),
    rootFile: resolve(folder, config.rootFile),
    changed,
    log,
  })
  collector.provideAll('mesh_certificate_not_after_seconds', () => series(source.notAfterSeconds))
  collector.provideAll('mesh_certificate_age_seconds', () => series(source.ageSeconds))
  collector.provide('mesh_certificate_requests_total', ['success'], () => source.counts.success)
  collector.provide('mesh_certificate_requests_total', ['failure'], () => source.counts.failure)
  source.start()
  return source
}

/** One series without labels; none when there is no value. */
function series(value: number | null): [[], number][] {
  return value === null ? [] : [[[], value]]
}
