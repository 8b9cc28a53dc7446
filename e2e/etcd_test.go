package e2e_test

func beEtcdIfAsked() {}
