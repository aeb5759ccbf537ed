import { describe, it } from 'node:test'
import { browserCases } from './testing/browser-cases.ts'
import { connectionCases } from './testing/connection-cases.ts'
import { credentialCases } from './testing/credential-cases.ts'
import { limitCases } from './testing/limit-cases.ts'
import { modelCases } from './testing/model-cases.ts'
import { explainCase } from './testing/refusal-case.ts'
import { routingCases } from './testing/routing-cases.ts'
import { ruleCases } from './testing/rule-cases.ts'
import { serviceCases } from './testing/service-cases.ts'
import { messageCases, upstreamCases } from './testing/upstream-cases.ts'

/** Every kind of refusal over real sockets, with what its explanation must say. */
const tables = {
  routing: routingCases,
  rules: ruleCases,
  credentials: credentialCases,
  limits: limitCases,
  browsers: browserCases,
  services: serviceCases,
  models: modelCases,
  backends: upstreamCases,
  messages: messageCases,
  connections: connectionCases,
}

for (const [name, cases] of Object.entries(tables)) {
  describe(name, () => {
    for (const refusal of cases) it(refusal.name, (t) => explainCase(t, refusal))
  })
}
