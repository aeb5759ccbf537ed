/** The controller name of our GatewayClasses and of our entries in statuses. */
export const CONTROLLER_NAME = 'portico.dev/gateway'
