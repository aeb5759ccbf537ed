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

export const listener = object({
  name: objectName().optional().describe('Name in traces, logs and metrics; `listener<index>` when unset.'),
  protocol: enumeration(['HTTP', 'HTTPS', 'TLS', 'TCP'])
    .prefault('HTTP')
    .describe(
      '`HTTP`, `HTTPS` (needs `tls`), `TLS` (passed on undecrypted, by server name) or `TCP` (passed on as it is).',
    ),
  hostname: hostname({ wildcard: true })
    .optional()
    .describe('Host that this listener serves; `*.example.com` covers its subdomains; every host when unset.'),
  tls: object(
    {
      cert: pemFile('certificate').describe('PEM file with the certificate chain.'),
      key: pemFile('privateKey').describe('PEM file with the private key.'),
      root: pemFile('authorities')
        .optional()
        .describe('PEM file with authorities: clients must show a certificate issued by one of them.'),
      clientCertificates: clientCertificates()
        .optional()
        .describe(
          'With `root`: `Require` refuses clients without a certificate, `Request` lets them in; what `frontend.tls` says when unset.',
        ),
    },
    [onlyWith('clientCertificates', 'root')],
  )
    .optional()
    .describe('Certificate of an HTTPS listener.'),
  policies: listenerBlock()
    .optional()
    .describe('Traffic policies for all routes of this listener; HTTP and HTTPS only.'),
  routes: list(route, { max: 100_000 })
    .prefault([])
    .describe('Rules of this listener; a tie is won by the one that stands first.'),
}).describe('A set of hosts on a port.')

export const bind = object({
  port: integer({ min: 0, max: 65_535 }).describe('Port to listen on; 0 takes any free port.'),
  address: fileOnly(ipAddress().optional().describe('Address to listen on; every address of the machine when unset.')),
  listeners: list(listener, { min: 1, max: 64 }).describe('What is served on this port.'),
}).describe('A port.')

export type BindConfig = Output<typeof bind>
export type ListenerConfig = Output<typeof listener>
