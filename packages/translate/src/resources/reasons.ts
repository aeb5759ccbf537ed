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
  Accepted: {
    on: 'all kinds but GwPolicy and GwFilter',
    means: 'The resource is valid; a route is attached to the parent.',
    fix: null,
  },
  AddressNotAssigned: {
    on: 'Gateway',
    means: 'The Service of the data plane has no address yet.',
    fix: 'Wait for the load balancer; without one on the platform, set `service.spec.type` in GwParameters to `ClusterIP` or `NodePort`.',
  },
  AddressNotUsable: {
    on: 'Gateway',
    means: 'The platform has not assigned an address that `spec.addresses` requests.',
    fix: 'Request an address that the load balancer can assign, or leave `spec.addresses` out.',
  },
  Assigned: { on: 'Gateway', means: 'Every address that the Gateway requests is assigned.', fix: null },
  Attached: { on: 'GwPolicy, GwFilter', means: 'The policy applies to its targets.', fix: null },
  BackendError: {
    on: 'routes',
    means: 'A GwBackend or an XBackend of the route is invalid; requests for it get 500.',
    fix: 'Fix the backend: the message and its status name the field or Secret.',
  },
  BackendNotFound: {
    on: 'routes, GwModel, XTelemetryPolicy',
    means:
      'A Service, a Service port, a GwBackend, a GwModel, an XBackend, an InferencePool, a GwFilter or an HTTPRoute that the route refers to does not exist, or the endpoint picker of the pool does not; requests for it get 500. A Secret or a target of a GwModel does not exist, or the parent does not serve the target.',
    fix: 'Correct name, namespace and port of the `backendRef`, or create the object. The port is that of the Service, not of its Pods.',
  },
  ConfigurationChanged: {
    on: 'Gateway',
    means: 'Clients without a valid certificate are accepted, because of `mode: AllowInsecureFallback`.',
    fix: 'Set `tls.frontend…validation.mode` to `AllowValidOnly`, unless backends check the certificates themselves.',
  },
  Conflicted: {
    on: 'routes, XListenerSet, GwModel, GwPolicy, BackendTLSPolicy, XBackendTrafficPolicy, XTelemetryPolicy',
    means:
      'An older policy sets the same field for the same target, an older GwModel has the same model, or an older route of the other kind, HTTPRoute or GRPCRoute, has the same hostnames. The older one wins.',
    fix: 'Remove the fields from one of the two policies, or give them different targets. Give each route its own hostnames or listeners, and each GwModel its own model.',
  },
  HTTPRouteNotAccepted: {
    on: 'InferencePool',
    means: 'The Gateway accepts none of the routes that refer to the pool.',
    fix: 'Fix the routes: the message names one, and its status has the reason.',
  },
  HostnameConflict: {
    on: 'listeners',
    means: 'An earlier listener has the same port and hostname. This one is not served.',
    fix: 'Give one of them another hostname or port, or remove it.',
  },
  IncompatibleFilters: {
    on: 'routes',
    means: 'Filters of a rule cannot be combined, or one occurs twice. Requests of the rule get 500.',
    fix: 'Keep one of them, or split the rule.',
  },
  Invalid: {
    on: 'Gateway, listeners, GwModel, GwPolicy, GwFilter, BackendTLSPolicy, XBackend, XBackendTrafficPolicy, XTelemetryPolicy',
    means: 'The resource cannot be used; the other conditions and the message say why.',
    fix: 'Fix the field that the message names.',
  },
  InvalidCACertificateKind: {
    on: 'listeners',
    means: 'A reference to CA certificates is neither to a ConfigMap nor to a Secret nor to a ClusterTrustBundle.',
    fix: 'Refer to a ConfigMap with the key `ca.crt`.',
  },
  InvalidCACertificateRef: {
    on: 'listeners, BackendTLSPolicy, XBackend',
    means:
      'The ConfigMap or ClusterTrustBundle with CA certificates is missing, lacks `ca.crt`, or contains no certificate in PEM.',
    fix: 'Create it, with certificates in PEM under the key `ca.crt`.',
  },
  InvalidCertificateRef: {
    on: 'listeners',
    means:
      'The reference is not to a Secret, the Secret is missing, or its certificate and key cannot be used. TLS connections fail.',
    fix: 'Create a Secret of type `kubernetes.io/tls` in the namespace of the Gateway, with a certificate and its key.',
  },
  InvalidClientCertificateRef: {
    on: 'Gateway, XBackend',
    means: 'The client certificate for backends cannot be used.',
    fix: 'Fix the Secret in `tls.backend.clientCertificateRef` of the Gateway, or in `tls.clientCertificateRef` of the XBackend.',
  },
  InvalidExtensionRef: {
    on: 'InferencePool',
    means:
      'The endpoint picker is not a Service, or the Service or its port does not exist. The pool fails closed or open, as its `failureMode` says.',
    fix: 'Correct name and port of `endpointPickerRef`, or create the Service in the namespace of the pool.',
  },
  InvalidKind: {
    on: 'routes, GwModel, BackendTLSPolicy, XBackend, XTelemetryPolicy',
    means: 'A reference has a kind that is not supported there.',
    fix: 'A filter refers to a GwFilter. A backendRef refers to a Service, a ServiceImport, a GwBackend, an XBackend (not from a UDPRoute) or an InferencePool (an HTTPRoute may also refer to HTTPRoutes and GwModels), and to a ConfigMap or a ClusterTrustBundle for CA certificates.',
  },
  InvalidListenerFilter: {
    on: 'listeners',
    means: 'A filter of the listener is invalid. The listener is not served.',
    fix: 'Fix the field that the message names.',
  },
  InvalidListenerFilterRef: {
    on: 'listeners',
    means: 'A backend that a filter of the listener calls does not exist or cannot be used. Requests are denied.',
    fix: 'Correct name, namespace and port of the `backendRef`, or create the object.',
  },
  InvalidParameters: {
    on: 'Gateway',
    means:
      'GwParameters are invalid, and deployed objects stay as they are; or the Gateway shares its data plane, so that its own `infrastructure` has no effect.',
    fix: 'Fix or remove the field that the message names; `parametersRef` must refer to existing GwParameters.',
  },
  InvalidRouteKinds: {
    on: 'listeners',
    means: '`allowedRoutes.kinds` contains kinds that the protocol does not support; the others are served.',
    fix: 'HTTP and HTTPS support HTTPRoute, GRPCRoute and GwModel, TLS supports TLSRoute, TCP supports TCPRoute, UDP supports UDPRoute.',
  },
  ListenersNotValid: {
    on: 'Gateway, ListenerSet',
    means: 'Some listeners, or all, are not served.',
    fix: 'Check the conditions of the listeners in the message.',
  },
  NamespaceNotServed: {
    on: 'Gateway',
    means: 'The controller has no rights in the namespace of the Gateway, and deploys nothing there.',
    fix: 'Add the namespace to `namespaces` of the chart, or create the Gateway in a namespace of that list.',
  },
  NoConflicts: { on: 'listeners', means: 'No other listener conflicts.', fix: null },
  NoMatchingListenerHostname: {
    on: 'routes',
    means: 'No hostname of the route matches a listener of this parent, or the HTTPRoute that is its parent.',
    fix: 'Give the route a hostname that the listener has, or widen that of the listener: `*.example.com` matches `a.example.com`, not `example.com`.',
  },
  NoMatchingParent: {
    on: 'routes, GwModel',
    means:
      'The parent has no usable listener of this `sectionName` and `port`; or the parent is an HTTPRoute that does not refer to this route or GwModel.',
    fix: 'Correct the `parentRef`, or fix the listener: one with a conflict or an unknown protocol accepts no routes. An HTTPRoute needs a `backendRef` to this route or GwModel.',
  },
  NoValidCACertificate: {
    on: 'listeners, BackendTLSPolicy',
    means: 'There is no valid CA certificate, so certificates cannot be verified; connections fail.',
    fix: 'Fix the referenced ConfigMap: PEM under the key `ca.crt`.',
  },
  NotAllowed: {
    on: 'ListenerSet',
    means: 'The Gateway does not accept ListenerSets of this namespace.',
    fix: 'Set `spec.allowedListeners.namespaces` of the Gateway; without it, no ListenerSet is accepted.',
  },
  NotAllowedByListeners: {
    on: 'routes, GwModel',
    means: 'The listener does not accept routes or GwModels of this kind or namespace.',
    fix: 'Set `allowedRoutes.namespaces.from` of the listener to `All` or to a `Selector`; without it, only routes of its own namespace are accepted. Check `allowedRoutes.kinds` too: GwModels are accepted only when it has the kind.',
  },
  NotAssigned: {
    on: 'Gateway',
    means: 'None of the addresses that `spec.addresses` requests is assigned in its `routability`.',
    fix: 'Use the `routability` `Cluster`, or none; a value must be the cluster IP of the Service of the data plane.',
  },
  NotServing: {
    on: 'Gateway',
    means: 'The Gateway was served, but no data plane serves it any more: none is left, or their workers are dead.',
    fix: 'Check the Pods of the Gateway and their logs: a worker that dies logs the reason.',
  },
  PartiallyAssigned: {
    on: 'Gateway',
    means: 'Some of the addresses that `spec.addresses` requests are not assigned in their `routability`.',
    fix: 'Use the `routability` `Cluster`, or none; a value must be the cluster IP of the Service of the data plane.',
  },
  PartiallyValid: {
    on: 'GwPolicy, GwFilter, XTelemetryPolicy',
    means: 'Only a part of the policy applies; the message names the other part. Parts that guard access fail closed.',
    fix: 'Fix the fields that the message names.',
  },
  Pending: {
    on: 'Gateway, listeners, GwPolicy, GwFilter',
    means:
      'The resource is not in use yet: the target of a policy belongs to no Gateway, or no data plane runs the config of the Gateway.',
    fix: 'For a policy, attach its target to a Gateway. For a Gateway, check its Pods.',
  },
  PortUnavailable: {
    on: 'listeners',
    means:
      'The listener has no port; or an older Gateway of the shared data plane uses the port, and one of both has settings for connections, which would hold for both.',
    fix: 'Set `port`, or use a port that no other Gateway uses.',
  },
  Programmed: { on: 'Gateway, ListenerSet, listeners', means: 'Data planes serve the resource.', fix: null },
  ProtocolConflict: {
    on: 'listeners',
    means: 'An earlier listener has the same port and a protocol that cannot share it. This one is not served.',
    fix: 'Give one of them another port. HTTPS and TLS can share one.',
  },
  Quarantined: {
    on: 'GwPolicy, GwBackend, GwModel, XBackend, XTelemetryPolicy, routes, listeners',
    means:
      'Data planes cannot compile the resource or a part of it. Routes that use it answer 500; everything else of the Gateway is served.',
    fix: 'Fix the field and resource that the message names.',
  },
  RefNotPermitted: {
    on: 'Gateway, listeners, routes, GwModel, XBackend, XTelemetryPolicy',
    means:
      'A reference to another namespace is not allowed there, or an HTTPRoute or a GwModel does not name the route that refers to it.',
    fix: 'Create a ReferenceGrant in the namespace of that object, from the kind and namespace of this one. An XBackend must be in the namespace of the route. An HTTPRoute or a GwModel must name this route in its `parentRefs`.',
  },
  ResolvedRefs: {
    on: 'Gateway, listeners, routes, GwModel, BackendTLSPolicy, InferencePool, XBackend, XTelemetryPolicy',
    means: 'All references were resolved.',
    fix: null,
  },
  StatusSummarized: {
    on: 'GwPolicy',
    means:
      'The policy reaches more Gateways than a status can list; the rest is missing in the status, not in the config.',
    fix: null,
  },
  TargetNotFound: {
    on: 'GwPolicy, BackendTLSPolicy, XBackendTrafficPolicy',
    means:
      'The target does not exist, or has no such listener, rule, port, provider or MCP target. The policy has no effect.',
    fix: 'Correct name and sectionName of the target, or the labels of the selector. Targets are in the namespace of the policy.',
  },
  TestsFailed: {
    on: 'GwPolicy',
    means: 'A test of the policy fails with its newest spec. The last spec that passed stays in force.',
    fix: 'Fix the spec, or the test that the message names. The tests run again after each change, and when the config of a Gateway changes.',
  },
  TestsInvalid: {
    on: 'GwPolicy',
    means: 'The tests of the policy cannot run: the message names the location of the mistake, or the limit.',
    fix: 'Fix the tests in the ConfigMap. Their format is that of `porticoctl test`.',
  },
  TestsNotFound: {
    on: 'GwPolicy',
    means: 'The ConfigMap with the tests of the policy does not exist, or has no such key.',
    fix: 'Create the ConfigMap in the namespace of the policy, or correct `spec.verify.tests.configMap`.',
  },
  Timeout: {
    on: 'GwPolicy',
    means: 'The tests of the policy took too long, or too much memory.',
    fix: 'Write fewer or smaller tests, or divide the policy.',
  },
  TranslationError: {
    on: 'GwBackend',
    means: 'The backend cannot be used; requests for it get 500.',
    fix: 'Fix the field, Secret or ConfigMap that the message names.',
  },
  UnsupportedAddress: {
    on: 'Gateway',
    means: 'An address has an unknown type. The Gateway is not served.',
    fix: 'Use `type: IPAddress`, or leave `spec.addresses` out.',
  },
  UnsupportedProtocol: {
    on: 'listeners, routes, XBackend, XBackendTrafficPolicy',
    means:
      'The protocol is not supported, a GRPCRoute refers to a backend that speaks HTTP/1.1, an HTTPRoute to an XBackend without HTTP, or a policy for requests targets a Service that only TCPRoutes, TLSRoutes or UDPRoutes use.',
    fix: 'Use HTTP, HTTPS, TLS, TCP or UDP, in capital letters; give the pool `appProtocol: kubernetes.io/h2c`, or the XBackend another `protocol`; remove the policy.',
  },
  UnsupportedValue: {
    on: 'routes, listeners, GwModel, XBackend',
    means:
      'A field has a value that is not supported. Requests of the rule get 500, those of the GwModel fail; a listener is not served.',
    fix: 'Fix or remove the field that the message names.',
  },
  Valid: { on: 'GwPolicy, GwFilter', means: 'The whole policy applies.', fix: null },
  Verified: { on: 'GwPolicy', means: 'The newest spec passed the tests of the policy, and is in force.', fix: null },
} as const satisfies Readonly<Record<string, ReasonEntry>>

export type Reason = keyof typeof reasons

/** Returns undefined for reasons of other controllers. */
export function reasonEntry(reason: string): ReasonEntry | undefined {
  return Object.hasOwn(reasons, reason) ? reasons[reason as Reason] : undefined
}

/** The meaning of conditions, by type. */
export const conditionTypes = {
  Accepted: {
    on: 'all kinds',
    should: 'True',
    means:
      'The resource is valid; a route is attached to the parent. `Programmed` of the Gateway says whether data planes serve it.',
  },
  AddressesAssigned: {
    on: 'Gateway',
    should: 'True',
    means: 'The addresses of a Gateway whose `spec.addresses` have a `routability` are assigned.',
  },
  Attached: { on: 'GwPolicy, GwFilter', should: 'True', means: 'The target of the policy belongs to a Gateway.' },
  Conflicted: { on: 'listeners', should: 'False', means: 'Another listener conflicts with this one.' },
  InsecureFrontendValidationMode: {
    on: 'Gateway',
    should: 'False',
    means: 'Client certificates are requested, but not required.',
  },
  PartiallyInvalid: { on: 'routes', should: 'False', means: 'Some rules of the route are not served; the others are.' },
  Programmed: { on: 'Gateway, ListenerSet, listeners', should: 'True', means: 'Data planes serve the resource.' },
  ResolvedRefs: {
    on: 'Gateway, listeners, routes, GwModel, BackendTLSPolicy, InferencePool, XBackend, XTelemetryPolicy',
    should: 'True',
    means: 'All referenced Secrets, Services and other objects exist.',
  },
  StatusSummarized: { on: 'GwPolicy, GwFilter', should: 'True', means: 'The status does not list all Gateways.' },
  Verified: {
    on: 'GwPolicy',
    should: 'True',
    means: 'The newest spec passed the tests of `spec.verify`. Otherwise, an earlier spec is in force.',
  },
} as const satisfies Readonly<Record<string, { on: string; should: 'True' | 'False'; means: string }>>

export type ConditionType = keyof typeof conditionTypes

/** Whether a condition is as it should be. A policy that is only partly valid is not. */
export function isFine({ type, status, reason }: { type: string; status: string; reason: string }): boolean {
  const known = Object.hasOwn(conditionTypes, type) ? conditionTypes[type as ConditionType] : undefined
  return status === (known?.should ?? 'True') && reason !== 'PartiallyValid'
}
