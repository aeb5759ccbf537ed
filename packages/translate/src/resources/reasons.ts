/** The meaning of a condition's reason for the author of the resource. */
export interface ReasonEntry {
  /** Kinds whose status may have the reason. */
  on: string
  means: string
  /** The fix; null when nothing is wrong. */
  fix: string | null
}

/**
 * All reasons in statuses. A reason without an entry does not compile; porticoctl and docs/troubleshooting.md print them.
 */
export const reasons = {
  Accepted: { on: 'all kinds but GwPolicy', means: 'The resource is taken as it is.', fix: null },
  AddressNotAssigned: {
    on: 'Gateway',
    means: 'The Service of the data plane has no address yet.',
    fix: 'Wait for the load balancer; where the platform has none, set `service.spec.type` in GwParameters to `ClusterIP` or `NodePort`.',
  },
  AddressNotUsable: {
    on: 'Gateway',
    means: 'The platform has not given an address that `spec.addresses` asks for.',
    fix: 'Ask for an address that the load balancer may give, or leave `spec.addresses` out.',
  },
  Attached: { on: 'GwPolicy', means: 'The policy holds for its targets.', fix: null },
  BackendError: {
    on: 'routes',
    means: 'A GwBackend that the route names has a problem of its own; requests for it are answered with 500.',
    fix: 'Mend the GwBackend: the message and its own status say which field or Secret is wrong.',
  },
  BackendNotFound: {
    on: 'routes',
    means:
      'A Service, a port of it or a GwBackend that the route names is not there; requests for it are answered with 500.',
    fix: 'Correct name, namespace and port of the `backendRef`, or create what it names. The port is one of the Service, not of its Pods.',
  },
  ConfigurationChanged: {
    on: 'Gateway',
    means: 'Clients without a valid certificate are let in, because `mode: AllowInsecureFallback` asks for that.',
    fix: 'Set `tls.frontend…validation.mode` to `AllowValidOnly`, unless backends judge the certificates themselves.',
  },
  Conflicted: {
    on: 'routes, GwPolicy, BackendTLSPolicy',
    means:
      'An older policy says the same for the same target, or an older route has the same connections or, of HTTPRoute and GRPCRoute, the same hostnames: the older one counts.',
    fix: 'Take the fields out of one of the two policies, or give them different targets. Give routes hostnames or listeners of their own.',
  },
  HostnameConflict: {
    on: 'listeners',
    means: 'A listener before this one has the same port and hostname. This one is not served.',
    fix: 'Give one of them another hostname or port, or remove it.',
  },
  IncompatibleFilters: {
    on: 'routes',
    means: 'Filters of a rule exclude one another, or one is there twice. Requests of the rule are answered with 500.',
    fix: 'Leave one of them, or split the rule.',
  },
  Invalid: {
    on: 'Gateway, listeners, GwPolicy, BackendTLSPolicy',
    means: 'Nothing of it can be used; the other conditions and the message say why.',
    fix: 'Mend the field that the message names.',
  },
  InvalidCACertificateKind: {
    on: 'listeners',
    means: 'A reference to authorities names something else than a ConfigMap or a Secret.',
    fix: 'Refer to a ConfigMap with the key `ca.crt`.',
  },
  InvalidCACertificateRef: {
    on: 'listeners, BackendTLSPolicy',
    means: 'The ConfigMap with authorities is missing, lacks `ca.crt`, or holds no certificate in PEM.',
    fix: 'Create it, with certificates in PEM under the key `ca.crt`.',
  },
  InvalidCertificateRef: {
    on: 'listeners',
    means:
      'The Secret with the certificate is missing, is no Secret, or its certificate and key cannot be used. TLS is refused.',
    fix: 'Create a Secret of type `kubernetes.io/tls` in the namespace of the Gateway, with a certificate and the key that belongs to it.',
  },
  InvalidClientCertificateRef: {
    on: 'Gateway',
    means: 'The certificate that backends are shown cannot be used.',
    fix: 'Mend the Secret that `tls.backend.clientCertificateRef` names.',
  },
  InvalidKind: {
    on: 'routes, BackendTLSPolicy',
    means: 'A reference names a kind that cannot stand there.',
    fix: 'Refer to a Service or a GwBackend, and to a ConfigMap for authorities.',
  },
  InvalidParameters: {
    on: 'Gateway',
    means: 'GwParameters cannot be used. What is deployed stays as it was.',
    fix: 'Mend the field that the message names; `parametersRef` must name GwParameters that exist.',
  },
  InvalidRouteKinds: {
    on: 'listeners',
    means: '`allowedRoutes.kinds` asks for kinds that the protocol does not serve; the others are served.',
    fix: 'HTTP and HTTPS serve HTTPRoute and GRPCRoute, TLS serves TLSRoute, TCP serves TCPRoute.',
  },
  ListenersNotValid: {
    on: 'Gateway, ListenerSet',
    means: 'Some of the listeners are not served, or none is.',
    fix: 'Look at the conditions of the listeners that the message names.',
  },
  NamespaceNotServed: {
    on: 'Gateway',
    means: 'The controller has no rights in the namespace of the Gateway, and deploys nothing there.',
    fix: 'Add the namespace to `namespaces` of the chart, or create the Gateway in a namespace of that list.',
  },
  NoConflicts: { on: 'listeners', means: 'No other listener is in the way.', fix: null },
  NoMatchingListenerHostname: {
    on: 'routes',
    means: 'None of the hostnames of the route fits a listener of this parent.',
    fix: 'Give the route a hostname that the listener has, or widen that of the listener: `*.example.com` fits `a.example.com`, not `example.com`.',
  },
  NoMatchingParent: {
    on: 'routes',
    means: 'The parent has no usable listener of this `sectionName` and `port`.',
    fix: 'Correct the `parentRef`, or mend the listener: one with a conflict or an unknown protocol takes no routes.',
  },
  NoValidCACertificate: {
    on: 'listeners, BackendTLSPolicy',
    means: 'There is no valid authority, so nobody could be verified; connections are refused.',
    fix: 'Mend the ConfigMap that the references name: PEM under the key `ca.crt`.',
  },
  NotAllowed: {
    on: 'ListenerSet',
    means: 'The Gateway does not let ListenerSets of this namespace in.',
    fix: 'Set `spec.allowedListeners.namespaces` of the Gateway; without it, no ListenerSet is let in.',
  },
  NotAllowedByListeners: {
    on: 'routes',
    means: 'The listener does not take routes of this kind, or of this namespace.',
    fix: 'Set `allowedRoutes.namespaces.from` of the listener to `All` or to a `Selector`; without it, only routes of its own namespace are taken. Check `allowedRoutes.kinds` too.',
  },
  NotServing: {
    on: 'Gateway',
    means: 'The Gateway was served, and no data plane serves it any more: none is left, or their workers are dead.',
    fix: 'Look at the Pods of the Gateway and at their logs: a worker that dies says why.',
  },
  PartiallyValid: {
    on: 'GwPolicy',
    means:
      'A part of the policy counts, and the message says which part does not. Parts that guard access fail closed.',
    fix: 'Mend the fields that the message names.',
  },
  Pending: {
    on: 'Gateway, listeners, GwPolicy',
    means:
      'It is not in force yet: the target of a policy is part of no Gateway, or no data plane runs the config of the Gateway.',
    fix: 'Attach the target of the policy to a Gateway. Of a Gateway, look at its Pods.',
  },
  PortUnavailable: { on: 'listeners', means: 'The listener has no port.', fix: 'Give it a `port`.' },
  Programmed: { on: 'Gateway, ListenerSet, listeners', means: 'It is served.', fix: null },
  ProtocolConflict: {
    on: 'listeners',
    means: 'A listener before this one has the same port and a protocol that cannot share it. This one is not served.',
    fix: 'Give one of them another port. HTTPS and TLS can share one.',
  },
  Quarantined: {
    on: 'GwPolicy, GwBackend, routes, listeners',
    means:
      'Data planes cannot compile the resource, or something that it is made of. What it is part of answers 500; everything else of the Gateway is served.',
    fix: 'Mend the field that the message names, in the resource that the message names.',
  },
  RefNotPermitted: {
    on: 'Gateway, listeners, routes',
    means: 'It refers to an object of another namespace that has not agreed.',
    fix: 'Create a ReferenceGrant in the namespace of that object, from the kind and namespace of this one.',
  },
  ResolvedRefs: {
    on: 'Gateway, listeners, routes, BackendTLSPolicy',
    means: 'All that it refers to was found.',
    fix: null,
  },
  StatusSummarized: {
    on: 'GwPolicy',
    means:
      'The policy reaches more Gateways than a status has room for; the rest is left out of the status, not of the config.',
    fix: null,
  },
  TargetNotFound: {
    on: 'GwPolicy',
    means:
      'The target is not there, or has no such listener, rule, port, provider or MCP target. The policy holds for nothing.',
    fix: 'Correct name and sectionName of the target, or the labels of the selector. Targets are in the namespace of the policy.',
  },
  TranslationError: {
    on: 'GwBackend',
    means: 'The backend cannot be used; requests for it are answered with 500.',
    fix: 'Mend the field, Secret or ConfigMap that the message names.',
  },
  UnsupportedAddress: {
    on: 'Gateway',
    means: 'An address is of a type that is not known. Nothing is served.',
    fix: 'Use `type: IPAddress`, or leave `spec.addresses` out.',
  },
  UnsupportedProtocol: {
    on: 'listeners',
    means: 'The protocol is not served.',
    fix: 'Use HTTP, HTTPS, TLS or TCP, in capital letters.',
  },
  UnsupportedValue: {
    on: 'routes',
    means: 'A field has a value that cannot be served. Requests of the rule are answered with 500.',
    fix: 'Mend or remove the field that the message names.',
  },
  Valid: { on: 'GwPolicy', means: 'All of the policy counts.', fix: null },
} as const satisfies Readonly<Record<string, ReasonEntry>>

export type Reason = keyof typeof reasons

/** Returns undefined for reasons of other controllers. */
export function reasonEntry(reason: string): ReasonEntry | undefined {
  return Object.hasOwn(reasons, reason) ? reasons[reason as Reason] : undefined
}

/** The meaning of conditions, by type. */
export const conditionTypes = {
  Accepted: { on: 'all kinds', should: 'True', means: 'The resource is understood, and taken.' },
  Attached: { on: 'GwPolicy', should: 'True', means: 'What the policy is for is part of a Gateway.' },
  Conflicted: { on: 'listeners', should: 'False', means: 'Another listener is in the way.' },
  InsecureFrontendValidationMode: {
    on: 'Gateway',
    should: 'False',
    means: 'Client certificates are asked for, and not insisted on.',
  },
  PartiallyInvalid: { on: 'routes', should: 'False', means: 'Some rules of the route are not served; the others are.' },
  Programmed: { on: 'Gateway, ListenerSet, listeners', should: 'True', means: 'It is served.' },
  ResolvedRefs: {
    on: 'Gateway, listeners, routes, BackendTLSPolicy',
    should: 'True',
    means: 'Secrets, Services and whatever else is referred to are there.',
  },
  StatusSummarized: { on: 'GwPolicy', should: 'True', means: 'The status does not list all Gateways.' },
} as const satisfies Readonly<Record<string, { on: string; should: 'True' | 'False'; means: string }>>

export type ConditionType = keyof typeof conditionTypes

/** Whether a condition is as it should be. A policy that is only partly valid is not. */
export function isFine({ type, status, reason }: { type: string; status: string; reason: string }): boolean {
  const known = Object.hasOwn(conditionTypes, type) ? conditionTypes[type as ConditionType] : undefined
  return status === (known?.should ?? 'True') && reason !== 'PartiallyValid'
}
