/** The half of a session that only pages of this origin have: a cookie alone calls nothing. */
const KEY = 'portico.session'

export function sessionProof(): string | null {
  return localStorage.getItem(KEY)
}

export function hasSession(): boolean {
  return sessionProof() !== null
}

/** The login sends people back to the page that they were on. */
export function goToLogin(): void {
  localStorage.removeItem(KEY)
  location.assign(`/ui/login?to=${encodeURIComponent(location.pathname + location.search)}`)
}
