import type { LintCheck } from './check.ts'
import { apiKeyExpired } from './access/api-key-expired.ts'
import { apiKeyWeak } from './access/api-key-weak.ts'
import { authorizerFailsOpen } from './access/authorizer-fails-open.ts'
import { basicAuthOverHttp } from './access/basic-auth-over-http.ts'
import { corsAnyOriginWithCredentials } from './access/cors-any-origin-with-credentials.ts'
import { credentialInQuery } from './access/credential-in-query.ts'
import { credentialOverHttp } from './access/credential-over-http.ts'
import { forwardProxyOpen } from './access/forward-proxy-open.ts'
import { forwardProxyPrivate } from './access/forward-proxy-private.ts'
import { forwardedHeadersTrusted } from './access/forwarded-headers-trusted.ts'
import { identityHeaderFromClient } from './access/identity-header-from-client.ts'
import { jwksOverHttp } from './access/jwks-over-http.ts'
import { jwtWithoutAudience } from './access/jwt-without-audience.ts'
import { optionalAuthentication } from './access/optional-authentication.ts'
import { originOverHttp } from './access/origin-over-http.ts'
import { passwordHashWeak } from './access/password-hash-weak.ts'
import { ruleConstant } from './access/rule-constant.ts'
import { ruleNeverTrue } from './access/rule-never-true.ts'
import { secretInPlainText } from './access/secret-in-plain-text.ts'
import { healthNeverEvicts } from './backends/health-never-evicts.ts'
import { mirrorBodyLarge } from './backends/mirror-body-large.ts'
import { mirrorNeverSent } from './backends/mirror-never-sent.ts'
import { retryUnsafe } from './backends/retry-unsafe.ts'
import { retryWithoutTime } from './backends/retry-without-time.ts'
import { timeoutNeverReached } from './backends/timeout-never-reached.ts'
import { budgetFailsOpen } from './limits/budget-fails-open.ts'
import { budgetForgotten } from './limits/budget-forgotten.ts'
import { limitKeyForgeable } from './limits/limit-key-forgeable.ts'
import { limitKeyUnset } from './limits/limit-key-unset.ts'
import { limitNeverReached } from './limits/limit-never-reached.ts'
import { modelWithoutPrice } from './limits/model-without-price.ts'
import { rateLimitFailsOpen } from './limits/rate-limit-fails-open.ts'
import { mcpHostCheckOff } from './mcp/mcp-host-check-off.ts'
import { mcpToolsCollide } from './mcp/mcp-tools-collide.ts'
import { stdioCommandLine } from './mcp/stdio-command-line.ts'
import { stdioInheritsEnvironment } from './mcp/stdio-inherits-environment.ts'
import { stdioShell } from './mcp/stdio-shell.ts'
import { aliasToNothing } from './models/alias-to-nothing.ts'
import { cacheNeverUsed } from './models/cache-never-used.ts'
import { cacheSharedByAll } from './models/cache-shared-by-all.ts'
import { guardDelaysStream } from './models/guard-delays-stream.ts'
import { modelUnused } from './models/model-unused.ts'
import { virtualModelWithoutDefault } from './models/virtual-model-without-default.ts'
import { accessLogSecret } from './operation/access-log-secret.ts'
import { adminAddressOpen } from './operation/admin-address-open.ts'
import { headerLimitLow } from './operation/header-limit-low.ts'
import { metricLabelUnbounded } from './operation/metric-label-unbounded.ts'
import { backendIsGateway } from './routes/backend-is-gateway.ts'
import { backendNeverCalled } from './routes/backend-never-called.ts'
import { backendUnused } from './routes/backend-unused.ts'
import { hostnameOfOtherListener } from './routes/hostname-of-other-listener.ts'
import { hostnameOutsideListener } from './routes/hostname-outside-listener.ts'
import { matchDuplicate } from './routes/match-duplicate.ts'
import { methodLowerCase } from './routes/method-lower-case.ts'
import { regexSlow } from './routes/regex-slow.ts'
import { routeUnreachable } from './routes/route-unreachable.ts'
import { certificateEnds } from './tls/certificate-ends.ts'
import { certificateName } from './tls/certificate-name.ts'
import { clientCertificateUnchecked } from './tls/client-certificate-unchecked.ts'
import { tlsVerificationOff } from './tls/tls-verification-off.ts'
import { LOADER_CODES } from './loader-codes.ts'

export { LOADER_CODES }

/** The codes of all checks. Codes are stable: comments and tools rely on them. */
const CHECK_CODES = [
  'api-key-expired',
  'api-key-weak',
  'authorizer-fails-open',
  'basic-auth-over-http',
  'cors-any-origin-with-credentials',
  'credential-in-query',
  'credential-over-http',
  'forward-proxy-open',
  'forward-proxy-private',
  'forwarded-headers-trusted',
  'identity-header-from-client',
  'jwks-over-http',
  'jwt-without-audience',
  'optional-authentication',
  'origin-over-http',
  'password-hash-weak',
  'rule-constant',
  'rule-never-true',
  'secret-in-plain-text',
  'health-never-evicts',
  'mirror-body-large',
  'mirror-never-sent',
  'retry-unsafe',
  'retry-without-time',
  'timeout-never-reached',
  'budget-fails-open',
  'budget-forgotten',
  'limit-key-forgeable',
  'limit-key-unset',
  'limit-never-reached',
  'model-without-price',
  'rate-limit-fails-open',
  'mcp-host-check-off',
  'mcp-tools-collide',
  'stdio-command-line',
  'stdio-inherits-environment',
  'stdio-shell',
  'alias-to-nothing',
  'cache-never-used',
  'cache-shared-by-all',
  'guard-delays-stream',
  'model-unused',
  'virtual-model-without-default',
  'access-log-secret',
  'admin-address-open',
  'header-limit-low',
  'metric-label-unbounded',
  'backend-is-gateway',
  'backend-never-called',
  'backend-unused',
  'hostname-of-other-listener',
  'hostname-outside-listener',
  'match-duplicate',
  'method-lower-case',
  'regex-slow',
  'route-unreachable',
  'certificate-ends',
  'certificate-name',
  'client-certificate-unchecked',
  'tls-verification-off',
] as const

type CheckCode = (typeof CHECK_CODES)[number]

export type LintCode = CheckCode | keyof typeof LOADER_CODES

/** All checks by code. A code without its check does not compile, and neither does a check under another code. */
export const CHECKS: { readonly [Code in CheckCode]: LintCheck<Code> } = {
  'api-key-expired': apiKeyExpired,
  'api-key-weak': apiKeyWeak,
  'authorizer-fails-open': authorizerFailsOpen,
  'basic-auth-over-http': basicAuthOverHttp,
  'cors-any-origin-with-credentials': corsAnyOriginWithCredentials,
  'credential-in-query': credentialInQuery,
  'credential-over-http': credentialOverHttp,
  'forward-proxy-open': forwardProxyOpen,
  'forward-proxy-private': forwardProxyPrivate,
  'forwarded-headers-trusted': forwardedHeadersTrusted,
  'identity-header-from-client': identityHeaderFromClient,
  'jwks-over-http': jwksOverHttp,
  'jwt-without-audience': jwtWithoutAudience,
  'optional-authentication': optionalAuthentication,
  'origin-over-http': originOverHttp,
  'password-hash-weak': passwordHashWeak,
  'rule-constant': ruleConstant,
  'rule-never-true': ruleNeverTrue,
  'secret-in-plain-text': secretInPlainText,
  'health-never-evicts': healthNeverEvicts,
  'mirror-body-large': mirrorBodyLarge,
  'mirror-never-sent': mirrorNeverSent,
  'retry-unsafe': retryUnsafe,
  'retry-without-time': retryWithoutTime,
  'timeout-never-reached': timeoutNeverReached,
  'budget-fails-open': budgetFailsOpen,
  'budget-forgotten': budgetForgotten,
  'limit-key-forgeable': limitKeyForgeable,
  'limit-key-unset': limitKeyUnset,
  'limit-never-reached': limitNeverReached,
  'model-without-price': modelWithoutPrice,
  'rate-limit-fails-open': rateLimitFailsOpen,
  'mcp-host-check-off': mcpHostCheckOff,
  'mcp-tools-collide': mcpToolsCollide,
  'stdio-command-line': stdioCommandLine,
  'stdio-inherits-environment': stdioInheritsEnvironment,
  'stdio-shell': stdioShell,
  'alias-to-nothing': aliasToNothing,
  'cache-never-used': cacheNeverUsed,
  'cache-shared-by-all': cacheSharedByAll,
  'guard-delays-stream': guardDelaysStream,
  'model-unused': modelUnused,
  'virtual-model-without-default': virtualModelWithoutDefault,
  'access-log-secret': accessLogSecret,
  'admin-address-open': adminAddressOpen,
  'header-limit-low': headerLimitLow,
  'metric-label-unbounded': metricLabelUnbounded,
  'backend-is-gateway': backendIsGateway,
  'backend-never-called': backendNeverCalled,
  'backend-unused': backendUnused,
  'hostname-of-other-listener': hostnameOfOtherListener,
  'hostname-outside-listener': hostnameOutsideListener,
  'match-duplicate': matchDuplicate,
  'method-lower-case': methodLowerCase,
  'regex-slow': regexSlow,
  'route-unreachable': routeUnreachable,
  'certificate-ends': certificateEnds,
  'certificate-name': certificateName,
  'client-certificate-unchecked': clientCertificateUnchecked,
  'tls-verification-off': tlsVerificationOff,
}
