import { fileOnly, list, object } from '../../schema/kit.ts'
import type { Output } from '../../schema/kit.ts'
import { hostname, ipAddress } from '../../schema/fields/hosts.ts'
import { objectName } from '../../schema/fields/names.ts'
import { pemFile } from '../../schema/fields/references.ts'
import { clientCertificates } from '../../schema/fields/tls-options.ts'
import { enumeration, integer } from '../../schema/fields/values.ts'
import { onlyWith } from '../../schema/rules.ts'
import { listenerBlock } from '../policies/schema.ts'
import { route } from '../routes/schema.ts'

/** The certificate of an HTTPS listener. */
export const listenerTls = object(
  {
    cert: pemFile('certificate').describe('PEM file with the certificate chain.'),
    key: pemFile('privateKey').describe('PEM file with the private key.'),
    root: pemFile('authorities')
      .optional()
      .describe('PEM file with CA certificates; clients must present a certificate that one of these CAs issued.'),
    clientCertificates: clientCertificates()
      .optional()
      .describe(
        'With `root`: `Require` rejects clients without a certificate, `Request` accepts them. When unset, the value in `frontend.tls`.',
      ),
  },
  [onlyWith('clientCertificates', 'root')],
)

export const listener = object({
  name: objectName().optional().describe('Name in traces, logs and metrics; `listener<index>` when unset.'),
  protocol: enumeration(['HTTP', 'HTTPS', 'TLS', 'TCP', 'UDP', 'HBONE'])
    .prefault('HTTP')
    .describe(
      '`HTTP`, `HTTPS` (needs `tls`), `TLS` (forwarded without decryption, by server name), `TCP` (forwarded unchanged), `UDP` (datagrams, by session) or `HBONE` (tunnels of mesh peers to the HTTP listeners of this file).',
    ),
  hostname: hostname({ wildcard: true })
    .optional()
    .describe('Host of this listener; `*.example.com` matches its subdomains. Every host when unset.'),
  tls: listenerTls.optional().describe('Certificate of an HTTPS listener.'),
  policies: listenerBlock()
    .optional()
    .describe('Traffic policies for all routes of this listener; HTTP and HTTPS only.'),
  routes: list(route, { max: 100_000 })
    .prefault([])
    .describe('Routes of this listener. If two match equally well, the first in the list takes precedence.'),
}).describe('A listener: a host or set of hosts on a port.')

export const bind = object({
  port: integer({ min: 0, max: 65_535 }).describe('Port to listen on; 0 selects a free port.'),
  address: fileOnly(ipAddress().optional().describe('Address to listen on; every address of the machine when unset.')),
  listeners: list(listener, { min: 1, max: 64 }).describe('Listeners of this port.'),
}).describe('A port with its listeners.')

export type BindConfig = Output<typeof bind>
export type ListenerConfig = Output<typeof listener>
