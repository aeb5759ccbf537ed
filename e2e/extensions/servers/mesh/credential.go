package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"

	pb "istio.io/api/security/v1alpha1"
	"istio.io/istio/security/pkg/pki/util"
)

// credential is a workload certificate from the CA, renewed at half of its life.
type credential struct {
	ca, token, root string
	ttl             time.Duration
	accepted        []string
	pair            atomic.Pointer[tls.Certificate]
	roots           *x509.CertPool
}

// newCredential adds the flags of a workload; `start` obtains the first certificate.
func newCredential(flags *flag.FlagSet) *credential {
	c := &credential{}
	flags.StringVar(&c.ca, "ca", "", "address of the CA")
	flags.StringVar(&c.token, "token", "", "token for the CA")
	flags.StringVar(&c.root, "root", "", "file of the root certificates")
	flags.DurationVar(&c.ttl, "ttl", time.Hour, "life of certificates")
	flags.Func("accept", "trust domain of peers; may be repeated (default cluster.local)", func(text string) error {
		c.accepted = append(c.accepted, text)
		return nil
	})
	return c
}

func (c *credential) start() error {
	if len(c.accepted) == 0 {
		c.accepted = []string{"cluster.local"}
	}
	pem, err := os.ReadFile(c.root)
	if err != nil {
		return err
	}
	c.roots = x509.NewCertPool()
	if !c.roots.AppendCertsFromPEM(pem) {
		return fmt.Errorf("%s has no certificate", c.root)
	}
	if err := c.obtain(); err != nil {
		return err
	}
	go func() {
		for {
			time.Sleep(c.ttl / 2)
			if err := c.obtain(); err != nil {
				say(map[string]any{"event": "renewal failed", "error": err.Error()})
			}
		}
	}()
	return nil
}

func (c *credential) obtain() error {
	// The CA takes the identity from the token, not from the request.
	csr, key, err := util.GenCSR(util.CertOptions{Host: "spiffe://x/ns/x/sa/x", ECSigAlg: util.EcdsaSigAlg})
	if err != nil {
		return err
	}
	connection, err := grpc.NewClient(c.ca, grpc.WithTransportCredentials(credentials.NewClientTLSFromCert(c.roots, "")))
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+c.token, "ClusterID", "Kubernetes")
	request := &pb.IstioCertificateRequest{Csr: string(csr), ValidityDuration: int64(c.ttl.Seconds())}
	response, err := pb.NewIstioCertificateServiceClient(connection).CreateCertificate(ctx, request)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair([]byte(strings.Join(response.CertChain, "")), key)
	if err != nil {
		return err
	}
	c.pair.Store(&pair)
	return nil
}

// config is the mutual TLS of both sides: a peer is verified by its chain and trust domain, never by a host name.
func (c *credential) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		NextProtos: []string{"h2"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return c.pair.Load(), nil
		},
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return c.pair.Load(), nil
		},
		ClientAuth:         tls.RequireAnyClientCert,
		InsecureSkipVerify: true,
		VerifyConnection:   c.verify,
	}
}

func (c *credential) verify(state tls.ConnectionState) error {
	intermediates := x509.NewCertPool()
	for _, certificate := range state.PeerCertificates[1:] {
		intermediates.AddCert(certificate)
	}
	options := x509.VerifyOptions{
		Roots: c.roots, Intermediates: intermediates, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	}
	_, err := state.PeerCertificates[0].Verify(options)
	identity := identityOf(state)
	if err == nil && !slices.ContainsFunc(c.accepted, func(domain string) bool {
		return strings.HasPrefix(identity, "spiffe://"+domain+"/")
	}) {
		err = errors.New("trust domain is not accepted")
	}
	if err != nil {
		say(map[string]any{"event": "peer rejected", "peer": identity, "error": err.Error()})
	}
	return err
}

func identityOf(state tls.ConnectionState) string {
	if len(state.PeerCertificates) == 0 || len(state.PeerCertificates[0].URIs) == 0 {
		return ""
	}
	return state.PeerCertificates[0].URIs[0].String()
}
