/** `gateway/web` → `web`, by any name that kubectl knows the kind by; null for anything else. */
export function gatewayNameOf(text: string): string | null {
  const [, name] =
    /^(?:gateways?|gtw)(?:\.gateway\.networking\.k8s\.io)?\/([a-z0-9]([-a-z0-9.]*[a-z0-9])?)$/.exec(text) ?? []
  return name ?? null
}
