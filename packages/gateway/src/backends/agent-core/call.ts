import type { AttemptStepList, BackendIdentity, CompiledBackend } from '../../pipeline/compiled/compiled.ts'
import type { AttemptStep } from '../../pipeline/context/outgoing.ts'
import { withholdClientHeaders } from '../../redaction/credential-names.ts'
import { tracedSend } from '../../pipeline/traced/traced-send.ts'
import { chooseVersion, type ConnectionSettings, type Destination, UpstreamError } from '@portico/http/client'

interface AgentCoreOptions {
  destination: Destination
  settings: ConnectionSettings
}

/** An agent runtime: whatever the client's path, the call goes to the path that invokes the runtime. */
export function agentCoreBackend(identity: BackendIdentity, options: AgentCoreOptions): CompiledBackend {
  const { destination, settings } = options
  return {
    ...identity,
    needsName: false,
    requestTimeoutMs: settings.requestTimeoutMs,
    hostname: null,
    send: tracedSend(identity, (request, context, handler) =>
      destination.send(request, chooseVersion(settings.version, request, context), context, handler),
    ),
    connect(_destination, _context, done) {
      done(new UpstreamError('bad_response', 'an agent runtime does not support tunnels', true))
      return { cancel() {} }
    },
  }
}

/**
 * Wraps the policies of the backend in the call of a runtime. Before the policies, credentials for the gateway are
 * withheld; after the policies, the destination is set, because policies must not change it.
 */
export function invoking(
  steps: AttemptStepList | null,
  { arn, host, qualifier }: Runtime,
  { keepsKey }: { keepsKey: boolean },
): AttemptStepList {
  const query = qualifier === null ? '' : `?qualifier=${encode(qualifier)}`
  const target = `/runtimes/${encode(arn)}/invocations${query}`
  const invoke: AttemptStep = (outgoing) => {
    outgoing.target = target
    outgoing.authority = host
  }
  const withhold: AttemptStep = ({ headers }) => withholdClientHeaders(headers, { keepsKey })
  return {
    run: [withhold, ...(steps?.run ?? []), invoke],
    names: ['withheldHeaders', ...(steps?.names ?? []), 'agentCore'],
  }
}

interface Runtime {
  arn: string
  host: string
  qualifier: string | null
}

/** Every character that could mean something. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
