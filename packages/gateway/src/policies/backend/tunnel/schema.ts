import { definePolicy } from '../../../schema/define-policy.ts'
import { spiffeId } from '../../../schema/fields/names.ts'
import { namedBackendReference } from '../../../schema/fields/references.ts'
import { integer } from '../../../schema/fields/values.ts'
import { fileOnly, object } from '../../../schema/kit.ts'
import { exactlyOneOf } from '../../../schema/rules.ts'

export const tunnel = definePolicy({
  name: 'tunnel',
  section: 'backend',
  attach: ['route', 'backend', 'mcpTarget'],
  merge: 'replace',
  schema: object(
    {
      backendRef: namedBackendReference()
        .optional()
        .describe('The proxy. Its own `tcp`, `tls` and `auth` policies apply to the connection to it.'),
      hbone: fileOnly(
        object({
          port: integer({ min: 1, max: 65_535 }).prefault(15_008).describe('Port of HBONE on the workload.'),
          identity: spiffeId()
            .optional()
            .describe(
              'The SPIFFE ID that the workload must have; when unset, any workload of the accepted trust domains.',
            ),
        })
          .optional()
          .describe('The backend is a workload of the mesh, which is called through HBONE. Needs `config.mesh`.'),
      ),
    },
    [exactlyOneOf('backendRef', 'hbone')],
  ).describe('Connects to the backend through a proxy, with HTTP CONNECT.'),
})
