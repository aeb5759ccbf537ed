import { defineCheck } from '../check.ts'
import { configsOf } from '../subject.ts'

export const jwtWithoutAudience = defineCheck({
  code: 'jwt-without-audience',
  severity: 'warning',
  summary: 'an issuer of tokens without `audiences`',
  why: 'The issuer signs tokens for many services. Without `audiences`, a token that a client got for another service is accepted here too.',
  fix: 'List the audience that the issuer writes into tokens for this service.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        jwtAuthentication:
          providers:
          - issuer: https://idp.example.com/
            jwks: { url: "https://idp.example.com/keys" }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        jwtAuthentication:
          providers:
          - issuer: https://idp.example.com/
            audiences: [shop]
            jwks: { url: "https://idp.example.com/keys" }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run(subject, report) {
    const phrases = { found: 'found an issuer without `audiences`', expected: 'the audience of this service' }
    for (const config of configsOf(subject, 'traffic', 'jwtAuthentication')) {
      for (const [index, { audiences }] of config.providers.entries()) {
        if (audiences === undefined) report({ part: config, path: ['providers', index] }, phrases)
      }
    }
    for (const config of configsOf(subject, 'traffic', 'mcpAuthentication')) {
      if (config.audiences === undefined) report({ part: config }, phrases)
    }
  },
})
