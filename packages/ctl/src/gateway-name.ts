/** Parses `gateway/web` to `web`, with any name that kubectl accepts for the kind; null for anything else. */
export function gatewayNameOf(text: string): string | null {
  const [, name] =
    /^(?:gateways?|gtw)(?:\.gateway\.networking\.k8s\.io)?\/([a-z0-9]([-a-z0-9.]*[a-z0-9])?)$/.exec(text) ?? []
  return name ?? null
}
