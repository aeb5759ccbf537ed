/** Local storage key of the session proof. A call needs the proof, which only pages of this origin have, and the cookie. */
const KEY = 'portico.session'

export function sessionProof(): string | null {
  return localStorage.getItem(KEY)
}

export function hasSession(): boolean {
  return sessionProof() !== null
}

/** Opens the login, which leads back to the current page. */
export function goToLogin(): void {
  localStorage.removeItem(KEY)
  location.assign(`/ui/login?to=${encodeURIComponent(location.pathname + location.search)}`)
}
