package rpc

import "testing"

// TestProcedures keeps the list of procedures, with what each takes and gives.
func TestProcedures(t *testing.T) {
	service := &Service{}
	checkGolden(t, "procedures.golden", Describe(NewHandler(service.Procedures(), Options{Authenticator: testKeys{}}).Procedures()))
}
