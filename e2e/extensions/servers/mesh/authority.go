package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"

	"istio.io/istio/pkg/security"
	"istio.io/istio/security/pkg/pki/ca"
	"istio.io/istio/security/pkg/pki/util"
	caserver "istio.io/istio/security/pkg/server/ca"
)

// runCA serves the certificate service of Istio. The root is kept in the state folder, so a restart keeps it.
func runCA(args []string) error {
	flags := flag.NewFlagSet("ca", flag.ExitOnError)
	listen := flags.String("listen", "127.0.0.1:0", "address of the service")
	state := flags.String("state", "", "folder of the root: root-cert.pem and root-key.pem, created if missing")
	tokens := flags.String("tokens", "", "file of accepted tokens: TOKEN NAMESPACE SERVICE-ACCOUNT [TRUST-DOMAIN] per line")
	trustDomain := flags.String("trust-domain", "cluster.local", "trust domain of tokens that name none")
	ttl := flags.Duration("ttl", time.Hour, "life of certificates for requests without a duration")
	maxTTL := flags.Duration("max-ttl", 90*24*time.Hour, "longest life of a certificate")
	capTTL := flags.Duration("cap-ttl", 0, "shortens every certificate to this life; 0 does not")
	names := flags.String("names", "127.0.0.1,localhost,istiod.istio-system.svc", "names of the service's certificate")
	if err := flags.Parse(args); err != nil {
		return err
	}
	root, key, err := loadRoot(*state)
	if err != nil {
		return err
	}
	bundle, err := util.NewVerifiedKeyCertBundleFromPem(root, key, nil, root, nil)
	if err != nil {
		return err
	}
	authority, err := ca.NewIstioCA(&ca.IstioCAOptions{
		DefaultCertTTL: *ttl, MaxCertTTL: *maxTTL, KeyCertBundle: bundle,
		RotatorConfig: &ca.SelfSignedCARootCertRotatorConfig{},
	})
	if err != nil {
		return err
	}
	authenticators := []security.Authenticator{tokenFile{*tokens, *trustDomain}}
	service, err := caserver.New(capped{authority, *capTTL}, *ttl, authenticators, nil)
	if err != nil {
		return err
	}
	cert, certKey, err := authority.GenKeyCert(strings.Split(*names, ","), 24*time.Hour, false)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(cert, certKey)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	server := grpc.NewServer(
		grpc.Creds(credentials.NewServerTLSFromCert(&pair)),
		grpc.UnaryInterceptor(logCall),
	)
	service.Register(server)
	say(map[string]any{"event": "listening", "address": listener.Addr().String(), "root": string(root)})
	return server.Serve(listener)
}

// capped is a CA that issues certificates with a shorter life than the request asks for.
type capped struct {
	caserver.CertificateAuthority
	ttl time.Duration
}

func (c capped) Sign(csr []byte, opts ca.CertOpts) ([]byte, error) {
	if c.ttl > 0 {
		opts.TTL = min(opts.TTL, c.ttl)
	}
	return c.CertificateAuthority.Sign(csr, opts)
}

// logCall prints each call with its outcome and the cluster of its caller.
func logCall(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	response, err := next(ctx, request)
	found, _ := metadata.FromIncomingContext(ctx)
	event := map[string]any{"event": "certificate", "cluster": strings.Join(found.Get("clusterid"), ",")}
	if err != nil {
		event["error"] = err.Error()
	}
	say(event)
	return response, err
}

func loadRoot(folder string) (cert []byte, key []byte, err error) {
	certFile, keyFile := filepath.Join(folder, "root-cert.pem"), filepath.Join(folder, "root-key.pem")
	cert, certErr := os.ReadFile(certFile)
	key, keyErr := os.ReadFile(keyFile)
	if certErr == nil && keyErr == nil {
		return cert, key, nil
	}
	cert, key, err = util.GenCertKeyFromOptions(util.CertOptions{
		TTL: 10 * 365 * 24 * time.Hour, Org: "cluster.local", IsCA: true, IsSelfSigned: true, RSAKeySize: 2048,
	})
	if err != nil {
		return nil, nil, err
	}
	return cert, key, errors.Join(os.WriteFile(certFile, cert, 0o600), os.WriteFile(keyFile, key, 0o600))
}

// tokenFile accepts the bearer tokens of a file, which is read for every call.
type tokenFile struct{ path, trustDomain string }

func (t tokenFile) AuthenticatorType() string { return "TokenFile" }

func (t tokenFile) Authenticate(ctx security.AuthContext) (*security.Caller, error) {
	token, err := security.ExtractBearerToken(ctx.GrpcContext)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(t.path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		fields := append(strings.Fields(line), t.trustDomain)
		if len(fields) < 4 || fields[0] != token {
			continue
		}
		identity := "spiffe://" + fields[3] + "/ns/" + fields[1] + "/sa/" + fields[2]
		return &security.Caller{AuthSource: security.AuthSourceIDToken, Identities: []string{identity}}, nil
	}
	return nil, errors.New("unknown token")
}
